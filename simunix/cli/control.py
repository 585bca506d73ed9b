"""`simunix ctl DIR`: steer a running emulation."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

USAGE = {
    "host": "host NAMES off|on|shutdown|reboot|hang|pstate NUMBER",
    "link": "link NAME [up|down] [bandwidth RATE] [latency TIME] [loss PART]",
    "storage": "storage HOSTS:NAME [ok|read-only|full|failing] [read RATE] [write RATE] [readwrite RATE] [latency TIME]",
    "partition": "partition HOSTS [HOSTS]",
    "heal": "heal [HOSTS [HOSTS]]",
    "loss": "loss HOSTS [HOSTS] PART",
}
"""How changes of a running emulation are written, by operation."""

HOST_LISTS = ("hosts", "off")
"""What of an answer are names of hosts."""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subcommands.add_parser(
        "ctl",
        help="pause, resume, pace, stop or show a running emulation; switch its hosts, links and network",
        epilog="changes:\n" + "".join(f"  simunix ctl DIR {usage}\n" for usage in USAGE.values()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="run directory of the emulation")
    parser.add_argument("operation", choices=["status", "pause", "resume", "pace", "stop", *USAGE])
    parser.add_argument("arguments", nargs="*", metavar="WORD", help="for pace: virtual seconds per wall second, or 'free'")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Send one request to the emulation and print its answer as JSON, with host lists such as node[01-16]."""
    from simunix.app.join import ask
    from simunix.ranges import fold_hosts

    request: dict[str, object] = {"op": options.operation}
    if options.operation == "pace":
        request["pace"] = _pace(" ".join(options.arguments))
    elif options.operation in USAGE:
        request = {"op": "change", "changes": _changes(options.operation, options.arguments)}
    elif options.arguments:
        raise SimunixError(f"ctl {options.operation}: takes no further word, got {options.arguments[0]!r}")
    answer = ask(options.directory, request)
    print(json.dumps({key: fold_hosts(value) if key in HOST_LISTS else value for key, value in answer.items()}))
    return 0


def _changes(operation: str, arguments: list[str]) -> list[dict[str, object]]:
    from rsg_server.faults.faults import as_message
    from simunix.cli.faults import changes

    return [as_message(change) for change in changes(operation, arguments, USAGE[operation])]


def _pace(value: str) -> float | None:
    if value == "free":
        return None
    try:
        pace = float(value)
    except ValueError:
        pace = 0.0
    if pace <= 0:
        raise SimunixError(f"pace: expected a number above 0 or 'free', got {value!r}")
    return pace
