"""`simunix ps DIR`: shows what every process of a running emulation does, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

COLUMNS = ("HOST", "PID", "TID", "COMMAND", "THREADS", "STATE", "CALL", "SINCE", "WAITS FOR")
RIGHT = {"PID", "TID", "THREADS", "SINCE"}
COMMAND_WIDTH = 40
Row = tuple[str, ...]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subcommands.add_parser("ps", help="show what every process of a running emulation does")
    parser.add_argument("directory", type=Path, metavar="DIR", help="run directory of the emulation")
    parser.add_argument("--host", help="show only the processes of this host")
    parser.add_argument("--threads", action="store_true", help="print a line per thread instead of one per process")
    parser.add_argument("--json", action="store_true", help="print everything that is known, as JSON")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Ask the emulation once and print its answer as a table or as JSON."""
    from simunix.app.join import ask

    answer = ask(options.directory, {"op": "ps", "host": options.host})
    if options.json:
        print(json.dumps(answer, indent=2))
        return 0
    rows = [COLUMNS, *(row for process in answer["processes"] for row in process_rows(process, options.threads))]
    print(format_table(rows, () if options.threads else ("TID",)))
    return 0


def process_rows(process: dict[str, Any], every_thread: bool) -> Iterator[Row]:
    """Yield the row of a process, which shows what its first thread does, or one row per thread."""
    threads = process["threads"]
    for thread in threads if every_thread else threads[:1]:
        waits_for = thread["waits_for"] or ""
        if thread["until_s"] is not None:
            waits_for += f" until {thread['until_s']:.6f}"
        yield (
            process["host"],
            str(process["pid"]),
            str(thread["tid"]),
            shortened(process["command"]),
            str(len(threads)),
            thread["state"],
            thread["call"] or "-",
            "-" if thread["since_s"] is None else f"{thread['since_s']:.6f}",
            waits_for,
        )


def shortened(command: str) -> str:
    """Return a command line of at most COMMAND_WIDTH characters."""
    return command if len(command) <= COMMAND_WIDTH else command[: COMMAND_WIDTH - 1] + "…"


def format_table(rows: list[Row], hidden: tuple[str, ...]) -> str:
    """Return the rows as text, without the columns named in `hidden`; a column is as wide as its widest cell."""
    shown = [place for place, name in enumerate(COLUMNS) if name not in hidden]
    widths = {place: max(len(row[place]) for row in rows) for place in shown}
    lines = []
    for row in rows:
        cells = [row[at].rjust(widths[at]) if COLUMNS[at] in RIGHT else row[at].ljust(widths[at]) for at in shown]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
