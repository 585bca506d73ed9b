"""Applies the profiles of a platform for programs of Remote SimGrid: speeds and states of hosts, values and states of links."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.network.changes import events
from rsg_server.platform.profile import Changes, ProfileUse

if TYPE_CHECKING:
    from rsg_server.platform.platform import Platform
    from rsg_server.rsg.room import Rsg

Events = Iterator[tuple[float, float]]


class Profiles:
    """Applies each profile from the start of the emulation on. Events before the first operation count as past."""

    def __init__(self, room: Rsg, platform: Platform) -> None:
        self._room, self._platform = room, platform
        for use in platform.description.profiles:
            self._play(use, events(use.profile))

    def _play(self, use: ProfileUse, upcoming: Events) -> None:
        """Apply all events of a profile that are due, and set a timer for the next one."""
        for date_s, value in upcoming:
            if date_s > self._room.date_s:
                wait_s = date_s - self._room.date_s
                self._room.moments.after(wait_s, partial(self._happen, use, value, upcoming))
                return
            self._apply(use, value)

    def _happen(self, use: ProfileUse, value: float, upcoming: Events) -> None:
        self._apply(use, value)
        self._play(use, upcoming)

    def _apply(self, use: ProfileUse, value: float) -> None:
        places = self._room.places
        if use.changes in (Changes.SPEED, Changes.HOST_STATE):
            host = self._platform.host_by_name(use.element)
            if use.changes is Changes.SPEED:
                places.set_available(host, value)
            else:
                places.turn(host, value > 0)
            return
        link = places.link(places.link_named(use.element))
        if use.changes is Changes.LINK_STATE:
            places.turn_link(link, value > 0)
        elif use.changes is Changes.BANDWIDTH:
            places.set_link(link, value, -1.0)
        else:
            places.set_link(link, -1.0, value)
