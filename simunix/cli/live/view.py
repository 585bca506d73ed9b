"""`simunix view [DIR]`: shows a run as a live page in the browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EPILOG = """examples:
  simunix view                            the newest run below out/
  simunix view demo                       the run in out/demo, while it runs or when it has ended
  simunix view out/demo --port 8080       at this port
  simunix view demo --one-file page.html  the page of the ended run as a file to keep
  ssh -L 8080:127.0.0.1:8080 computer     makes that page's address work on another computer"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix view` and its options."""
    parser = subcommands.add_parser(
        "view",
        help="show a run in the browser, while it runs or afterwards: clock, machine, jobs; stop time, switch nodes off",
        description="Print the address of a page that shows the run, and serve it until Ctrl-C to browsers of this computer.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "directory", type=Path, nargs="?", metavar="DIR", help="run directory, or its name below out/ (default: the newest)"
    )
    parser.add_argument(
        "--one-file",
        type=Path,
        metavar="FILE",
        help="write the page of a run that has ended as one HTML file, and serve nothing",
    )
    parser.add_argument("--port", type=int, default=0, help="port of the loopback interface (default: any free one)")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Serve the live page of a run; return the exit code."""
    from simunix.view.serve import found_run, view

    if options.one_file is not None:
        from simunix.view.one_file import write_one_file

        write_one_file(found_run(options.directory), options.one_file)
        return 0
    return view(options.directory, options.port)
