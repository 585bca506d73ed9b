"""Choices of delays: how much longer than its latency a packet takes."""

from __future__ import annotations

from rsg_server.choices.places import DELAY, DELAYS_NS
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
            what = f"a packet over {', '.join(link.name for link in route.links)} is late by {DELAYS_NS[taken] / 1e6:g} ms"
            self._choices.note(DELAY, len(DELAYS_NS), taken, what)
        return DELAYS_NS[taken]
