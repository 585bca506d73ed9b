"""`simunix replay`: repeats the failing run of a capsule, to the byte."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subcommands.add_parser("replay", help="repeat a failing run that simunix explore has found")
    parser.add_argument("capsule", type=Path, metavar="CAPSULE", help="a folder below failures/ of an exploration")
    parser.add_argument("--out", type=Path, default=Path("out/replay"), metavar="DIR", help="folder of the results")
    parser.add_argument("--until", metavar="TIME", help="end the run at this virtual time")
    parser.add_argument("--pause-at", metavar="TIME", help="pause the run at this virtual time")
    parser.add_argument("--strace", nargs="?", const="", metavar="PROCESSES", help="as of simunix run")
    parser.add_argument("--gdb", metavar="[HOST:]PROCESS", help="as of simunix run")
    parser.add_argument("--story", action="store_true", help="tell what happens, and run nothing")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Repeat the run; return its exit code."""
    from simunix.cli.run import duration
    from simunix.explore.replay import ReplayOptions, replay

    return replay(
        ReplayOptions(
            capsule=options.capsule,
            out=options.out,
            until_ns=duration("--until", options.until),
            pause_at_ns=duration("--pause-at", options.pause_at),
            strace=options.strace,
            debug=options.gdb,
            tells_story=options.story,
        )
    )
