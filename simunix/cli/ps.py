"""`simunix ps DIR`: shows what every process of a running emulation does, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

COLUMNS = ("HOST", "PID", "TID", "COMMAND", "THREADS", "STATE", "CALL", "SINCE", "WAITS FOR")
RIGHT = {"PID", "TID", "THREADS", "SINCE"}
COMMAND_WIDTH, COMMAND_LEAST = 40, 12
"""COMMAND_WIDTH: the most characters of a command line that are shown. COMMAND_LEAST: the fewest, if the terminal is
too narrow for all columns.
"""
GAP = 2
CUT = "…"
Row = tuple[str, ...]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix ps` and its options."""
    parser = subcommands.add_parser("ps", help="show what every process of a running emulation does")
    parser.add_argument("directory", type=Path, metavar="DIR", help="run directory of the emulation")
    parser.add_argument("--host", help="show only the processes of this host")
    parser.add_argument("--threads", action="store_true", help="print a line per thread instead of one per process")
    parser.add_argument("--json", action="store_true", help="print all that is known about the processes, as JSON")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Ask the emulation once, and print the processes as a table or as JSON; return the exit code."""
    from simunix.app.join import ask

    answer = ask(options.directory, {"op": "ps", "host": options.host})
    if options.json:
        print(json.dumps(answer, indent=2))
        return 0
    rows = [COLUMNS, *(row for process in answer["processes"] for row in process_rows(process, options.threads))]
    print(format_table(rows, () if options.threads else ("TID",), terminal_width()))
    return 0


def terminal_width() -> int | None:
    """Return the columns of the terminal on standard output; None if there is none, so that whole lines are written."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def process_rows(process: dict[str, Any], every_thread: bool) -> Iterator[Row]:
    """Yield the table's row for a process, which tells what its first thread does; with `every_thread`, yield a row for
    each thread.
    """
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
    return cut(command, COMMAND_WIDTH)


def cut(text: str, width: int) -> str:
    """Return a text shortened to `width` characters, but at least one character."""
    return text if len(text) <= width else text[: max(width, 1) - 1] + CUT


def format_table(rows: list[Row], hidden: tuple[str, ...], width: int | None = None) -> str:
    """Return the rows as text, without the columns in `hidden`; each column is as wide as its widest cell.

    Lines longer than `width` characters are shortened: commands first, down to COMMAND_LEAST characters, then the ends
    of the lines.
    """
    shown = [place for place, name in enumerate(COLUMNS) if name not in hidden]
    widths = {place: max(len(row[place]) for row in rows) for place in shown}
    if width is not None:
        at = COLUMNS.index("COMMAND")
        excess = sum(widths.values()) + GAP * (len(shown) - 1) - width
        widths[at] -= max(0, min(excess, widths[at] - COMMAND_LEAST))
    lines = []
    for row in rows:
        cells = [(at, cut(row[at], widths[at])) for at in shown]
        texts = [cell.rjust(widths[at]) if COLUMNS[at] in RIGHT else cell.ljust(widths[at]) for at, cell in cells]
        line = (" " * GAP).join(texts).rstrip()
        lines.append(line if width is None else cut(line, width))
    return "\n".join(lines)
