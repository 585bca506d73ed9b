"""`simunix ctl DIR`: pauses, resumes or changes a running emulation (hosts, links, storages, faults)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError, quoted

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
"""The syntax of each change of a running emulation, by operation."""

STEERING = """time:
  simunix ctl DIR pause              stand still
  simunix ctl DIR resume             go on
  simunix ctl DIR until TIME         go on until this virtual time since the start (90, '2h'), then pause
  simunix ctl DIR step               go on to the next moment at which something is due, then pause
  simunix ctl DIR pace [N | free]    at most N virtual seconds per wall second; without a number: tell the pace
  simunix ctl DIR watch [SECONDS]    print the state as a line of JSON, then what changes, until the run ends
"""
"""The help text for the commands that pause, resume and pace a running emulation."""

TOLD_OF_PACE = ("virtual_s", "paused", "pace")
"""The keys of the emulation's answer that tell the virtual time and the pace. A pace of null means no limit of speed.
"""

HOST_LISTS = ("hosts", "off")
"""The keys of the emulation's answer that contain host names."""

WATCH_S = 1.0
"""Seconds of real time between two lines of `ctl DIR watch`."""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix ctl` and its options."""
    parser = subcommands.add_parser(
        "ctl",
        help="pause, resume, step, pace, stop or show a running emulation; switch its hosts, links and network",
        epilog=STEERING + "changes:\n" + "".join(f"  simunix ctl DIR {usage}\n" for usage in USAGE.values()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="run directory of the emulation")
    parser.add_argument("operation", choices=["status", "pause", "resume", "until", "step", "pace", "stop", "watch", *USAGE])
    parser.add_argument("arguments", nargs="*", metavar="WORD", help="the arguments of the operation, listed below")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Send one request to the emulation, and print its answer as JSON. Lists of hosts are shortened, as in node[01-16].
    Return the exit code.
    """
    from simunix.app.join import ask
    from simunix.ranges import fold_hosts

    if options.operation == "watch":
        return _watch(options.directory, " ".join(options.arguments))
    shown = TOLD_OF_PACE if options.operation == "pace" and not options.arguments else None
    answer = ask(options.directory, _request(options.operation, options.arguments))
    told = {key: value for key, value in answer.items() if shown is None or key in shown}
    print(json.dumps({key: fold_hosts(value) if key in HOST_LISTS else value for key, value in told.items()}))
    return 0


def _watch(directory: Path, every: str) -> int:
    """Print the messages that viewers of a run get, a line of JSON each; `every` is the time between two messages, in
    seconds of real time.
    """
    from simunix.app.join import follow

    try:
        every_s = float(every or WATCH_S)
    except ValueError as error:
        raise SimunixError(f"ctl watch: expected seconds between two lines, got {quoted(every)}") from error
    for message in follow(directory, every_s):
        print(json.dumps(message), flush=True)
    return 0


def _request(operation: str, arguments: list[str]) -> dict[str, object]:
    if operation == "pace":
        return {"op": "pace", "pace": _pace(" ".join(arguments))} if arguments else {"op": "status"}
    if operation == "until":
        return {"op": "until", "virtual_ns": _moment(" ".join(arguments))}
    if operation in USAGE:
        return {"op": "change", "changes": _changes(operation, arguments)}
    if arguments:
        raise SimunixError(f"ctl {operation}: takes no further word, got {quoted(arguments[0])}")
    return {"op": operation}


def _moment(text: str) -> int:
    from simunix.units import duration_ns

    try:
        return duration_ns(text)
    except ValueError as error:
        raise SimunixError(f"until: {error}; usage: simunix ctl DIR until TIME, such as 90 or '2h'") from error


def _changes(operation: str, arguments: list[str]) -> list[dict[str, object]]:
    from rsg_server.faults.changes import as_message
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
        raise SimunixError(f"pace: expected a number above 0 or 'free', got {quoted(value)}")
    return pace
