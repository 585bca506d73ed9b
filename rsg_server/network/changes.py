"""Lists the changes that the profiles of a platform make to its links and hosts, in the order of time.

For the flows from and to it, a host that can be switched off is one more link (in `gates`). This link fails with the
host, and the flows over it fail, too. Profiles of a host's speed change no flow and are left out.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass

from rsg_server.platform.link import Link, SharingPolicy
from rsg_server.platform.platform import Platform
from rsg_server.platform.profile import Changes, Profile, ProfileUse

MEANINGS = {
    Changes.BANDWIDTH: "bandwidth",
    Changes.LATENCY: "latency",
    Changes.LINK_STATE: "state",
    Changes.HOST_STATE: "state",
}


@dataclass(frozen=True, slots=True)
class LinkEvent:
    """A change of a link at `time_s` (seconds since the start): of its `bandwidth` (bytes/s), `latency` (s) or `state`.

    A state above 0 means on.
    """

    time_s: float
    link: Link
    what: str
    value: float


def events(profile: Profile) -> Iterator[tuple[float, float]]:
    """Yield the moments of a profile (seconds since its beginning) and its values, without end if the profile repeats."""
    begin = 0.0
    while profile.events:
        for date, value in profile.events:
            yield begin + date, value
        if profile.repeat_after_s is None:
            return
        begin += profile.events[-1][0] + profile.repeat_after_s


def gates(platform: Platform) -> dict[str, Link]:
    """Return a link of unlimited bandwidth for each host with a profile of its state, by the host's name; the link is
    on while the host is on.
    """
    hosts = [use.element for use in platform.description.profiles if use.changes is Changes.HOST_STATE]
    return {name: Link(f"host {name}", math.inf, 0.0, SharingPolicy.FATPIPE) for name in hosts}


def link_changes(platform: Platform) -> Iterator[LinkEvent]:
    """Yield the changes of all links and gates by time; changes of one moment are in the order of the platform's
    description.
    """
    doors = gates(platform)

    def of(use: ProfileUse) -> Iterator[LinkEvent]:
        link = doors[use.element] if use.changes is Changes.HOST_STATE else platform.links[use.element]
        for time_s, value in events(use.profile):
            yield LinkEvent(time_s, link, MEANINGS[use.changes], value)

    streams = [of(use) for use in platform.description.profiles if use.changes in MEANINGS]
    return heapq.merge(*streams, key=lambda change: change.time_s)


def next_time(change: LinkEvent | None) -> float:
    """Return the time of a change in seconds; infinity for None, the end of a profile."""
    return math.inf if change is None else change.time_s
