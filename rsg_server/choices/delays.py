"""Choices of packets: how much longer than its latency one takes, and whether bytes of a connection leave as two segments."""

from __future__ import annotations

from rsg_server.choices.places import CUT, CUTS, DELAY, DELAYS_NS, FIRST_BYTE, HALF
from rsg_server.choices.source import Choices
from rsg_server.platform.link import Route


class Delays:
    """How long each packet is under way is a choice. Bytes of one connection stay in order, as each waits for the earlier."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def extra_ns(self, route: Route) -> int:
        """Virtual nanoseconds by which the next packet over a route between two hosts is late."""
        if DELAY not in self._choices.places:
            return 0
        taken = self._choices.choose(DELAY, len(DELAYS_NS), [])
        if taken:
            what = f"a packet over {_names(route)} is late by {DELAYS_NS[taken] / 1e6:g} ms"
            self._choices.note(DELAY, len(DELAYS_NS), taken, what)
        return DELAYS_NS[taken]

    def cut(self, route: Route, size_bytes: int) -> tuple[int, int]:
        """How many of the bytes that are sent leave first, and by how much later the rest leaves; all of them if it is 0."""
        if size_bytes < 2 or CUT not in self._choices.places:
            return 0, 0
        taken = self._choices.choose(CUT, len(CUTS), [])
        if not taken:
            return 0, 0
        where, late_ns = CUTS[taken]
        first = 1 if where == FIRST_BYTE else size_bytes // 2 if where == HALF else size_bytes - 1
        what = f"of {size_bytes} bytes over {_names(route)} the first {first} arrive, the others {late_ns / 1e6:g} ms later"
        self._choices.note(CUT, len(CUTS), taken, what)
        return first, late_ns


def _names(route: Route) -> str:
    return ", ".join(link.name for link in route.links)
