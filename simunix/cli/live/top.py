"""`simunix top`: a run in the terminal."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EPILOG = """examples:
  simunix top              the newest run below out/
  simunix top demo         the run in out/demo: space pauses it, n goes on to the next event, o switches a node off
  simunix top demo | cat   once, as plain text"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subcommands.add_parser(
        "top",
        help="show a run in the terminal: clock, nodes, jobs; pause, step, switch nodes off",
        description="Shows a run until q. If the output is no terminal, its state is printed once.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "directory", type=Path, nargs="?", metavar="DIR", help="run directory, or its name below out/ (default: the newest)"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Show the run; return the exit code."""
    from simunix.view.top import top

    return top(options.directory)
