"""Run a Python function as an actor: python3 -m simunix.rsg.function FOLDER MODULE:FUNCTION [ARGUMENT…].

A scenario with `actors:` starts this program for an actor that is a function. The function gets the arguments as texts.
"""

from __future__ import annotations

import sys
from importlib import import_module

from simunix.rsg.actor import live


def main(words: list[str]) -> int:
    """Run the function; return the exit code, 0 if the function has returned."""
    folder, name, *arguments = words
    module_name, _, function_name = name.partition(":")
    sys.path.insert(0, folder)
    sys.argv = [name, *arguments]
    function = getattr(import_module(module_name), function_name, None)
    if not callable(function):
        print(f"simunix: module {module_name} has no function {function_name}", file=sys.stderr)
        return 1
    return live(function, tuple(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
