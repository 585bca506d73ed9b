"""The words of `simunix ctl DIR host|link|partition|heal|loss …` as the event of a scenario that they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from rsg_server.errors import SimunixError
from rsg_server.faults.faults import Change
from simunix.scenario.faults import EventSection

LINK_STATES = ("up", "down", "on", "off")


def changes(operation: str, words: Sequence[str], usage: str) -> list[Change]:
    """What is to change; SimunixError says how it is to be written."""
    try:
        event = EventSection.model_validate({"at": 0, **_PARSERS[operation](list(words))})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        text = str(first["msg"]).removeprefix("Value error, ")
        got = "" if first["type"] == "value_error" else f", got {first['input']!r}"
        raise SimunixError(f"ctl {operation}: {text}{got}; usage: simunix ctl DIR {usage}") from None
    except (ValueError, IndexError):
        raise SimunixError(f"ctl {operation}: usage: simunix ctl DIR {usage}") from None
    return list(event.changes())


def _host(words: list[str]) -> dict[str, Any]:
    names, state = words
    return {"host": names, "state": state}


def _link(words: list[str]) -> dict[str, Any]:
    event: dict[str, Any] = {"link": words.pop(0)}
    while words:
        key = words.pop(0)
        if key in LINK_STATES:
            event["state"] = key
        elif key in ("bandwidth", "latency", "loss"):
            event[key] = words.pop(0)
        else:
            raise ValueError(key)
    return event


def _partition(words: list[str]) -> dict[str, Any]:
    return {"partition": words}


def _heal(words: list[str]) -> dict[str, Any]:
    return {"heal": words or True}


def _loss(words: list[str]) -> dict[str, Any]:
    return {"loss": words.pop(), "between": words}


_PARSERS: dict[str, Callable[[list[str]], dict[str, Any]]] = {
    "host": _host,
    "link": _link,
    "partition": _partition,
    "heal": _heal,
    "loss": _loss,
}
