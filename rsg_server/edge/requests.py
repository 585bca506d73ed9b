"""Checks requests to the control socket. A wrong request gets an error as its answer, and the run goes on.

Nothing here changes anything: a request is read as a whole before its operation begins.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from rsg_server.clock.timeline import END_NS
from rsg_server.edge.terminal import TerminalRequest
from rsg_server.errors import SimunixError, quoted
from rsg_server.faults.changes import (
    AHEAD_MOST_NS,
    CONDITIONS,
    DRIFT_MOST_PPM,
    HOST_STATES,
    KINDS,
    PROCESS_STATES,
    Change,
    from_message,
)
from rsg_server.process.host_state import Command

Request = dict[str, Any]
PACE_MOST = 1e12
"""The highest pace, in virtual seconds per wall second; beyond it the limit of a run would not fit into nanoseconds."""
GRACE_MOST_NS = 10**18
POWER_STATES_MOST = 10**6
INTERVAL_S = (0.05, 60.0)
"""The least and the most seconds of real time between two messages to a viewer."""
NAME_MOST_BYTES = 255
"""The longest name of an actor: librsg reserves that much room for it."""
SIDE_MOST = 65535
"""The most rows or columns of a terminal, see ioctl_tty(2)."""


def is_number(value: object, least: float, most: float) -> bool:
    """Whether a value of JSON is a number within these bounds: not a truth value, not infinite, not NaN."""
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most and math.isfinite(value)


def _is_word(value: object) -> bool:
    """Whether a value is a text that can be an argument of a process."""
    try:
        return isinstance(value, str) and b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:  # half of a pair of code units, which JSON can spell
        return False


def _are_words(value: object) -> bool:
    return isinstance(value, list | tuple) and all(_is_word(word) for word in value)


def _optional(check: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or check(value)


_Check = Callable[[object], bool]
_RATE: tuple[_Check, str] = (
    _optional(lambda value: is_number(value, 1e-9, 1e18)),
    "a number of bytes per second above 0, or null",
)
_CHANGES: dict[str, tuple[_Check, str]] = {
    "host": (_is_word, "a text"),
    "state": (lambda value: value in HOST_STATES, ", ".join(HOST_STATES)),
    "ahead_ns": (
        lambda value: isinstance(value, int) and is_number(value, -AHEAD_MOST_NS, AHEAD_MOST_NS),
        f"a whole number of nanoseconds from -{AHEAD_MOST_NS} to {AHEAD_MOST_NS}",
    ),
    "drift_ppm": (
        lambda value: is_number(value, -DRIFT_MOST_PPM, DRIFT_MOST_PPM),
        f"a number from -{DRIFT_MOST_PPM} to {DRIFT_MOST_PPM}",
    ),
    "process": (_is_word, "a text"),
    "process_state": (lambda value: value in PROCESS_STATES, ", ".join(PROCESS_STATES)),
    "number": (
        lambda value: isinstance(value, int) and is_number(value, 0, POWER_STATES_MOST),
        f"a whole number up to {POWER_STATES_MOST}",
    ),
    "grace_ns": (
        lambda value: isinstance(value, int) and is_number(value, 0, GRACE_MOST_NS),
        f"a whole number of nanoseconds up to {GRACE_MOST_NS}",
    ),
    "link": (_is_word, "a text"),
    "bandwidth_bytes_per_s": _RATE,
    "latency_s": (_optional(lambda value: is_number(value, 0, 1e9)), "a number of seconds, or null"),
    "storage": (_is_word, "a text"),
    "condition": (_optional(lambda value: value in CONDITIONS), f"{', '.join(CONDITIONS)}, or null"),
    "read_bytes_per_s": _RATE,
    "write_bytes_per_s": _RATE,
    "readwrite_bytes_per_s": _RATE,
    "is_up": (_optional(lambda value: isinstance(value, bool)), "true, false or null"),
    "loss": (_optional(lambda value: is_number(value, 0, 1)), "a number from 0 to 1, or null"),
    "one": (_are_words, "a list of texts"),
    "other": (_are_words, "a list of texts"),
    "rate": (lambda value: is_number(value, 0, 1), "a number from 0 to 1"),
}
"""The check of each field of changes, by name, and in words what the check expects."""


def read(message: bytes) -> Request:
    """Return the request in a message. Raises SimunixError if there is none."""
    try:
        request = json.loads(message)
    except (ValueError, RecursionError) as error:
        raise _malformed("expected one line of JSON") from error
    if not isinstance(request, dict) or not isinstance(request.get("op"), str):
        raise _malformed('expected an object with "op"')
    return request


def command(request: Request, fds: list[int]) -> tuple[str, Command]:
    """Return the host and the program of a request to run a program. Raises SimunixError."""
    if len(fds) != 3:
        raise SimunixError("three descriptors are needed to run a program")
    argv, environment = request.get("argv"), request.get("environment")
    if not _are_words(argv) or not argv:
        raise _malformed("argv: expected the program and its arguments, without zero bytes")
    if not isinstance(environment, dict) or not _are_words([*environment, *environment.values()]):
        raise _malformed("environment: expected an object of texts, without zero bytes")
    if not _is_word(request.get("directory")) or not _is_word(request.get("host")):
        raise _malformed("directory and host: expected texts, without zero bytes")
    stdin, stdout, stderr = fds
    program = Command(
        argv=tuple(argv),
        environment=environment,
        directory=request["directory"],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        label="joined",
        foreground=True,
    )
    return request["host"], program


def terminal(request: Request) -> TerminalRequest:
    """Return the session of a request for a terminal. Raises SimunixError."""
    host, argv, environment = request.get("host"), request.get("argv"), request.get("environment")
    if not _is_word(host):
        raise _malformed("host: expected a text, without zero bytes")
    if not _are_words(argv):
        raise _malformed("argv: expected a list of texts, without zero bytes")
    if not isinstance(environment, dict) or not _are_words([*environment, *environment.values()]):
        raise _malformed("environment: expected an object of texts, without zero bytes")
    sides = [request.get(name) for name in ("rows", "columns")]
    if not all(isinstance(side, int) and is_number(side, 0, SIDE_MOST) for side in sides):
        raise _malformed(f"rows and columns: expected whole numbers up to {SIDE_MOST}")
    rows, columns = sides
    return TerminalRequest(host=host, argv=tuple(argv), environment=environment, rows=rows, columns=columns)  # type: ignore[arg-type]


def actor_name(request: Request) -> str:
    """Return the name of an actor from a request. Raises SimunixError."""
    name = request.get("name")
    if (
        not isinstance(name, str)
        or not _is_word(name)
        or not 0 < len(name.encode()) <= NAME_MOST_BYTES
        or not name.isprintable()
    ):
        raise SimunixError(f"actor name: expected 1 to {NAME_MOST_BYTES} bytes that can be printed, got {quoted(name)}")
    return name


def pace(request: Request) -> float | None:
    """Return the requested virtual seconds per wall second; None for no bound. Raises SimunixError."""
    value = request.get("pace", 0)
    if value is not None and not (is_number(value, 0, PACE_MOST) and value > 0):
        raise _malformed(f"pace: expected a number above 0 and up to {PACE_MOST:g}, or null")
    return None if value is None else float(value)


def moment(request: Request) -> int:
    """Return the requested moment of virtual time in nanoseconds since the start. Raises SimunixError."""
    value = request.get("virtual_ns")
    if not isinstance(value, int) or not is_number(value, 0, END_NS - 1):
        raise _malformed("virtual_ns: expected a whole number of nanoseconds since the start")
    return value


def interval(request: Request) -> float:
    """Return the seconds of real time between two messages to a viewer. Raises SimunixError."""
    value = request.get("every_s", 0.25)
    if not is_number(value, *INTERVAL_S):
        raise _malformed(f"every_s: expected a number of seconds from {INTERVAL_S[0]:g} to {INTERVAL_S[1]:g}")
    return float(value)


def changes(request: Request) -> list[Change]:
    """Return the requested changes of hosts, links and partitions. Raises SimunixError."""
    messages = request.get("changes")
    if not isinstance(messages, list):
        raise _malformed("changes: expected a list")
    return [_change(message) for message in messages]


def _change(message: object) -> Change:
    kind = message.get("kind") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(kind, str) or kind not in KINDS:
        raise _malformed(f'changes: expected objects with a "kind", one of {", ".join(KINDS)}')
    for name, value in message.items():
        if name in _CHANGES and not _CHANGES[name][0](value):
            raise _malformed(f"{kind}: {name}: expected {_CHANGES[name][1]}, got {quoted(value)}")
    try:
        return from_message(message)
    except TypeError as error:
        known = ", ".join(each.name for each in fields(KINDS[kind]))  # type: ignore[arg-type]
        raise _malformed(f"{kind}: expected {known}, got {quoted([*message])}") from error


def _malformed(what: str) -> SimunixError:
    return SimunixError(f"malformed request: {what}")
