"""From the arguments of `simunix ctl DIR host|link|storage|partition|heal|loss …` to the changes of an event in a scenario."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from rsg_server.errors import SimunixError
from rsg_server.faults.faults import CONDITIONS, Change
from simunix.scenario.faults import EventSection

STORAGE_VALUES = {
    "read": "read_bandwidth",
    "write": "write_bandwidth",
    "readwrite": "readwrite_bandwidth",
    "latency": "latency",
}
"""By the word of the command, the key of an event."""
LINK_STATES = ("up", "down", "on", "off")


def changes(operation: str, arguments: Sequence[str], usage: str) -> list[Change]:
    """Return the changes that the arguments ask for. Raises SimunixError, which names `usage`, for malformed arguments."""
    try:
        event = EventSection.model_validate({"at": 0, **_PARSERS[operation](list(arguments))})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        text = str(first["msg"]).removeprefix("Value error, ")
        got = "" if first["type"] == "value_error" else f", got {first['input']!r}"
        raise SimunixError(f"ctl {operation}: {text}{got}; usage: simunix ctl DIR {usage}") from None
    except (ValueError, IndexError):
        raise SimunixError(f"ctl {operation}: usage: simunix ctl DIR {usage}") from None
    return list(event.changes())


def _host(arguments: list[str]) -> dict[str, Any]:
    names, state, *more = arguments
    if state == "pstate":
        (number,) = more
        return {"host": names, "pstate": int(number)}
    if more:
        raise ValueError(more)
    return {"host": names, "state": state}


def _link(arguments: list[str]) -> dict[str, Any]:
    event: dict[str, Any] = {"link": arguments.pop(0)}
    while arguments:
        key = arguments.pop(0)
        if key in LINK_STATES:
            event["state"] = key
        elif key in ("bandwidth", "latency", "loss"):
            event[key] = arguments.pop(0)
        else:
            raise ValueError(key)
    return event


def _storage(arguments: list[str]) -> dict[str, Any]:
    event: dict[str, Any] = {"storage": arguments.pop(0)}
    while arguments:
        key = arguments.pop(0)
        if key in CONDITIONS:
            event["state"] = key
        elif key in STORAGE_VALUES:
            event[STORAGE_VALUES[key]] = arguments.pop(0)
        else:
            raise ValueError(key)
    return event


def _partition(arguments: list[str]) -> dict[str, Any]:
    return {"partition": arguments}


def _heal(arguments: list[str]) -> dict[str, Any]:
    return {"heal": arguments or True}


def _loss(arguments: list[str]) -> dict[str, Any]:
    return {"loss": arguments.pop(), "between": arguments}


_PARSERS: dict[str, Callable[[list[str]], dict[str, Any]]] = {
    "host": _host,
    "link": _link,
    "storage": _storage,
    "partition": _partition,
    "heal": _heal,
    "loss": _loss,
}
