"""Reads SimGrid's deployment files: which function each actor runs, on which host, and when it begins and ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rsg_server.platform.errors import PlatformError
from rsg_server.platform.simgrid_xml.context import Context
from rsg_server.platform.simgrid_xml.tree import Element, parse

DIE, RESTART = "DIE", "RESTART"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedActor:
    """An actor of a deployment file; `place` is its file and line.

    The actor begins at `start_s` (seconds, at least 0), and is killed at `kill_s` (None: never). With `restarts` it
    begins again when its host is on again after a failure.
    """

    place: str
    host: str
    function: str
    arguments: tuple[str, ...]
    start_s: float
    kill_s: float | None
    restarts: bool

    def fail(self, text: str) -> PlatformError:
        """Return an error about this actor, whose text begins with file and line."""
        return PlatformError(f"{self.place}: {text}")


def load_deployment(path: Path | str) -> tuple[DeployedActor, ...]:
    """Return the actors of a deployment file, in its order.

    A PlatformError says file, line, what is wrong and how to correct it.
    """
    context = Context(Path(path))
    document = parse(context.path)
    if document.tag != "platform":
        raise context.fail(document, f"expected <platform version='4.1'>, got <{document.tag}>; give a SimGrid deployment file")
    context.check(document)
    found = tuple(_actor(context, element) for element in document.below("actor", "process"))
    if not found:
        raise context.fail(document, "no actor; add an <actor host= function=>")
    return found


def _actor(context: Context, element: Element) -> DeployedActor:
    context.check(element)
    on_failure = element.attributes["on_failure"]
    if on_failure not in (DIE, RESTART):
        raise context.fail(element, f"<actor>: on_failure: expected {DIE} or {RESTART}, got {on_failure[:60]!r}")
    for argument in element.below("argument"):
        context.check(argument)
    kill_s = context.value(element, "kill_time", _date("kill_time"))
    return DeployedActor(
        place=context.at(element),
        host=element.attributes["host"],
        function=element.attributes["function"],
        arguments=tuple(argument.attributes["value"] for argument in element.below("argument")),
        start_s=max(0.0, context.value(element, "start_time", _date("start_time"))),
        kill_s=None if kill_s < 0 else kill_s,
        restarts=on_failure == RESTART,
    )


def _date(name: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if not math.isfinite(seconds):
            raise ValueError(f"expected a number of seconds, got {text[:60]!r}")
        return seconds

    return read
