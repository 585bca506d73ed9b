"""Turn the arguments of `simunix ctl DIR host|link|storage|partition|heal|loss …` into changes of the emulation, as
`events:` of a scenario does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from rsg_server.errors import SimunixError, quoted
from rsg_server.faults.changes import CONDITIONS, HOST_STATES, Change
from simunix.scenario.faults import EventSection

STORAGE_VALUES = {
    "read": "read_bandwidth",
    "write": "write_bandwidth",
    "readwrite": "readwrite_bandwidth",
    "latency": "latency",
}
"""The key of a scenario's event for each word that the command `simunix ctl DIR storage` accepts."""
DIGITS_MOST = 6
LINK_STATES = ("up", "down", "on", "off")


def changes(operation: str, arguments: Sequence[str], usage: str) -> list[Change]:
    """Return the changes of the emulation that the arguments ask for. Raises SimunixError with the text of `usage` if
    the arguments are malformed.
    """
    try:
        event = EventSection.model_validate({"at": 0, **_PARSERS[operation](list(arguments))})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        text = str(first["msg"]).removeprefix("Value error, ")
        got = "" if first["type"] == "value_error" else f", got {quoted(first['input'])}"
        raise SimunixError(f"ctl {operation}: {text}{got}; usage: simunix ctl DIR {usage}") from None
    except ValueError as error:
        raise SimunixError(f"ctl {operation}: {error}; usage: simunix ctl DIR {usage}") from None
    return list(event.changes())


def _next(arguments: list[str], expected: str) -> str:
    """Remove the next argument from the list and return it. Raises ValueError, with what was expected, if no argument
    is left.
    """
    if not arguments:
        raise ValueError(f"expected {expected}, got nothing")
    return arguments.pop(0)


def _no_more(arguments: list[str]) -> None:
    if arguments:
        raise ValueError(f"expected nothing more, got {quoted(arguments[0])}")


def _host(arguments: list[str]) -> dict[str, Any]:
    expected = f"{', '.join(HOST_STATES)} or pstate"
    names, state = _next(arguments, "names of hosts"), _next(arguments, expected)
    if state == "pstate":
        number = _next(arguments, "the number of a power state")
        if not (number.isascii() and number.isdigit() and len(number) <= DIGITS_MOST):
            raise ValueError(f"expected the number of a power state, from 0, got {quoted(number)}")
        event: dict[str, Any] = {"host": names, "pstate": int(number)}
    elif state not in HOST_STATES:
        raise ValueError(f"expected {expected}, got {quoted(state)}")
    else:
        event = {"host": names, "state": state}
    _no_more(arguments)
    return event


def _link(arguments: list[str]) -> dict[str, Any]:
    event: dict[str, Any] = {"link": _next(arguments, "the name of a link")}
    expected = "up, down, bandwidth, latency or loss"
    _take_values(event, arguments, LINK_STATES, {key: key for key in ("bandwidth", "latency", "loss")}, expected)
    return event


def _storage(arguments: list[str]) -> dict[str, Any]:
    event: dict[str, Any] = {"storage": _next(arguments, "HOSTS:NAME of a storage")}
    _take_values(event, arguments, CONDITIONS, STORAGE_VALUES, f"{', '.join([*CONDITIONS, *STORAGE_VALUES])}")
    return event


def _take_values(
    event: dict[str, Any], arguments: list[str], states: Sequence[str], values: dict[str, str], expected: str
) -> None:
    """Read a state and values from the arguments, in any order, into an event; `expected` says in the ValueError what
    was expected.
    """
    _require(arguments, expected)
    while arguments:
        word = arguments.pop(0)
        if word in states:
            event["state"] = word
        elif word in values:
            event[values[word]] = _next(arguments, f"a value of {word}")
        else:
            raise ValueError(f"expected {expected}, got {quoted(word)}")


def _require(arguments: list[str], expected: str) -> None:
    if not arguments:
        raise ValueError(f"expected {expected}, got nothing")


def _partition(arguments: list[str]) -> dict[str, Any]:
    _require(arguments, "names of hosts")
    return {"partition": _sides(arguments)}


def _heal(arguments: list[str]) -> dict[str, Any]:
    return {"heal": _sides(arguments) if arguments else True}


def _loss(arguments: list[str]) -> dict[str, Any]:
    if len(arguments) < 2:
        raise ValueError("expected names of hosts, then a part of all datagrams")
    part = arguments.pop()
    return {"loss": part, "between": _sides(arguments)}


def _sides(arguments: list[str]) -> list[str]:
    _no_more(arguments[2:])
    return arguments


_PARSERS: dict[str, Callable[[list[str]], dict[str, Any]]] = {
    "host": _host,
    "link": _link,
    "storage": _storage,
    "partition": _partition,
    "heal": _heal,
    "loss": _loss,
}
