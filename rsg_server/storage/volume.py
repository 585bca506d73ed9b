"""The disks behind a mount: a disk of the mount's own host, or disks of file servers, over which each file is striped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rsg_server.platform.host import Host

Range = tuple[int, int]
"""Bytes of a file: the number of the first one, and that of the byte behind the last."""
Part = tuple[int, int]
"""A part of an operation: the index of a disk among those of its volume, and a number of bytes."""


@dataclass(frozen=True, slots=True)
class Remote:
    """Disks of file servers that a host mounts: for each server its name, and the number of its disk.

    If there are several servers, the stripes of a file are on the servers in turn. An operation waits for a server that
    cannot be reached: for ever (a hard mount), or for `soft_ns`, after which it fails.
    """

    servers: tuple[tuple[str, int], ...]
    stripe_bytes: int = 0
    soft_ns: int | None = None


class Layout:
    """What file servers know of their files: the server that has the first stripe of each file, and the hosts that may
    have pages of the file in their caches. The first stripe of each further file is on the next server. Nothing depends
    on the order of the files' numbers.
    """

    def __init__(self) -> None:
        self._first: dict[int, int] = {}
        self._count = 0
        # by file and host: whether another host has written the file since this host last asked
        self.holders: dict[int, dict[str, bool]] = {}

    def first(self, file: int, servers: int) -> int:
        """Return the index of the server that has the first stripe of a file."""
        place = self._first.get(file)
        if place is None:
            place = self._first[file] = self._count
            self._count += 1
        return place % servers

    def forget(self, file: int) -> dict[str, bool]:
        """Forget a file that has been removed or emptied; return the hosts that may have its pages."""
        self._first.pop(file, None)
        return self.holders.pop(file, {})

    def used(self, file: int, host: str, writes: bool) -> None:
        """Note that a host has read or written a file through its page cache."""
        holders = self.holders.setdefault(file, {})
        if writes:
            for other in holders:
                holders[other] = True
            holders[host] = False
        else:
            holders.setdefault(host, False)

    def take_stale(self, file: int, host: str) -> bool:
        """Return whether another host has written a file since this host last asked; from now on, this host counts as
        informed.
        """
        holders = self.holders.get(file, {})
        is_stale = holders.get(host, False)
        if is_stale:
            holders[host] = False
        return is_stale


@dataclass(frozen=True, slots=True)
class Volume:
    """A storage as a host numbers it: its disks, each given by a host and by its number on that host."""

    client: Host
    targets: tuple[tuple[Host, int], ...]
    stripe_bytes: int = 0
    soft_ns: int | None = None
    layout: Layout | None = None  # None: no other host has the volume

    @property
    def is_remote(self) -> bool:
        """Whether the volume is on file servers."""
        return any(host is not self.client for host, _ in self.targets)

    @property
    def is_striped(self) -> bool:
        """Whether an operation may concern several disks."""
        return len(self.targets) > 1

    @property
    def is_fair_per_application(self) -> bool:
        """Whether all operations of an application have one share together on a disk of this volume."""
        return any(host.disks[disk].fair_per_application for host, disk in self.targets)

    @property
    def name(self) -> str:
        """The name of the volume in messages."""
        return "+".join(host.disks[disk].name for host, disk in self.targets[:1])

    @property
    def capacity_bytes(self) -> int | None:
        """The sum of the capacities of all its disks; None if one of them has no capacity."""
        capacities = [host.disks[disk].capacity_bytes for host, disk in self.targets]
        known = [capacity for capacity in capacities if capacity is not None]
        return sum(known) if len(known) == len(capacities) else None

    def parts(self, file: int, ranges: Iterable[Range]) -> list[Part]:
        """Return how many bytes of these ranges of a file are on each disk; disks without any are left out."""
        if not self.is_striped or self.layout is None:
            return [(0, sum(end - first for first, end in ranges))]
        count, stripe = len(self.targets), self.stripe_bytes
        begin, totals = self.layout.first(file, count), [0] * count
        for first, end in ranges:
            for place in range(count):
                totals[(begin + place) % count] += _until(end, place, count, stripe) - _until(first, place, count, stripe)
        return [(place, total) for place, total in enumerate(totals) if total] or [(begin, 0)]


def _until(end: int, place: int, count: int, stripe: int) -> int:
    """Return how many of the bytes before `end` are in every `count`th stripe, from the stripe `place` on."""
    rounds, rest = divmod(end, count * stripe)
    return rounds * stripe + min(stripe, max(0, rest - place * stripe))
