"""What the profiles of a platform do to its links, in the order of time."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass

from rsg_server.platform.link import Link
from rsg_server.platform.platform import Platform
from rsg_server.platform.profile import Changes, Profile

LINK_CHANGES = {Changes.BANDWIDTH: "bandwidth", Changes.LATENCY: "latency", Changes.LINK_STATE: "state"}


@dataclass(frozen=True, slots=True)
class LinkChange:
    """From a moment on, a link has another `bandwidth` (bytes per second), `latency` (seconds) or `state` (above 0: on)."""

    time_s: float
    link: Link
    what: str
    value: float


def events(profile: Profile) -> Iterator[tuple[float, float]]:
    """Moments and values; endless if the profile starts over."""
    begin = 0.0
    while profile.events:
        for date, value in profile.events:
            yield begin + date, value
        if profile.repeat_after_s is None:
            return
        begin += profile.events[-1][0] + profile.repeat_after_s


def link_changes(platform: Platform) -> Iterator[LinkChange]:
    """Of all links; those of one moment in the order of the platform's description."""

    def of(link: Link, what: str, profile: Profile) -> Iterator[LinkChange]:
        for time_s, value in events(profile):
            yield LinkChange(time_s, link, what, value)

    uses = [use for use in platform.description.profiles if use.changes in LINK_CHANGES]
    streams = [of(platform.links[use.element], LINK_CHANGES[use.changes], use.profile) for use in uses]
    return heapq.merge(*streams, key=lambda change: change.time_s)


def next_time(change: LinkChange | None) -> float:
    """When a change is due, infinite for none."""
    return math.inf if change is None else change.time_s
