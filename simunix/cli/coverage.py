"""`simunix coverage`: tells for each system call whether it is simulated, passed on or refused."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix coverage` and its options."""
    parser = subcommands.add_parser(
        "coverage", help="print for each system call whether simunix simulates it, passes it on to the kernel, or refuses it"
    )
    parser.add_argument("names", nargs="*", metavar="CALL", help="print only these system calls, e.g. futex nanosleep")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a JSON list")
    form.add_argument("--markdown", action="store_true", help="print the page docs/reference/system-calls.md")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the table of all system calls, or of those that the options select; return the exit code."""
    from simunix.coverage.document import markdown, text
    from simunix.coverage.table import by_name, table

    rows = table()
    if options.names:
        unknown = [name for name in options.names if name not in by_name()]
        if unknown:
            raise SimunixError(f"coverage: {unknown[0]}: no such system call on x86-64 Linux; see simunix coverage")
        rows = tuple(by_name()[name] for name in options.names)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        print(markdown(rows) if options.markdown else text(rows), end="" if options.markdown else "\n")
    return 0
