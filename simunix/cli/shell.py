"""`simunix shell DIR`: opens an interactive shell on a host of a running emulation."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]
    Parse = Callable[..., tuple[argparse.Namespace, list[str]]]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix shell` and its options."""
    parser = subcommands.add_parser(
        "shell",
        help="open a shell on a host of a running emulation",
        usage="simunix shell [options] DIR [-- COMMAND...]",
        epilog="On a terminal, the shell has a terminal of the host: root's prompt, full-screen programs, job control. "
        "Enter ~ . leaves a shell that does not answer; Enter ~ Ctrl-Z suspends simunix, fg goes on.",
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="run directory of the emulation")
    parser.add_argument("--host", help="emulated host (default: the only one)")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="a command to run instead of the shell, after --")
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        "-t", dest="terminal", action="store_true", default=None, help="give the command a terminal of the host in any case"
    )
    wanted.add_argument(
        "-T", dest="terminal", action="store_false", help="give the command the standard input and output of simunix"
    )
    parser.set_defaults(execute=execute)
    parse: Parse = parser.parse_known_args
    parser.parse_known_args = partial(_parsed, parse)  # type: ignore[method-assign, assignment]


def _parsed(parse: Parse, words: Sequence[str], given: argparse.Namespace | None) -> tuple[argparse.Namespace, list[str]]:
    """Parse only the words before `--`, and return the result with the other words: once an option has come between,
    argparse adds no more words to a list.
    """
    end = words.index("--") if "--" in words else len(words)
    options, unknown = parse(words[:end], given)
    options.command += words[end + 1 :]
    return options, unknown


def execute(options: argparse.Namespace) -> int:
    """Run a shell or a command on the host; return its exit code. If the caller has a terminal, the program gets a
    terminal of the host; else it uses the caller's standard streams.
    """
    from simunix.app.join import join
    from simunix.app.terminal import is_terminal, lead_session

    if is_terminal() if options.terminal is None else options.terminal:
        return lead_session(options.directory, options.host, options.command)
    return join(options.directory, options.host, options.command or [os.environ.get("SHELL", "/bin/sh")])
