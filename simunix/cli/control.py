"""`simunix ctl DIR`: steer a running emulation."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from simunix.launch.join import ask

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subcommands.add_parser("ctl", help="pause, resume, pace, stop or show a running emulation")
    parser.add_argument("directory", type=Path, metavar="DIR", help="run directory of the emulation")
    parser.add_argument("operation", choices=["status", "pause", "resume", "pace", "stop"])
    parser.add_argument("value", nargs="?", help="for pace: virtual seconds per wall second, or 'free'")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """One request, its answer as JSON."""
    request: dict[str, object] = {"op": options.operation}
    if options.operation == "pace":
        request["pace"] = _pace(options.value)
    print(json.dumps(ask(options.directory, request)))
    return 0


def _pace(value: str | None) -> float | None:
    if value == "free":
        return None
    try:
        pace = float(value or "")
    except ValueError:
        pace = 0.0
    if pace <= 0:
        raise SimunixError(f"pace: expected a number above 0 or 'free', got {value!r}")
    return pace
