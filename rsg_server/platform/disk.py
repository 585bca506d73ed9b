"""A disk of a host, and what an operation on it takes its share of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from rsg_server.platform.link import Link, Route, SharingPolicy
from rsg_server.platform.properties import no_properties

PREFIX = "disk "
"""Of the names of a disk's constraints: `disk HOST/NAME` is what all its operations share."""


class Direction(IntEnum):
    """What an operation does."""

    READ = 0
    WRITE = 1


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk, or an array of disks: bytes per second of all that is read, and of all that is written, at a time.

    `readwrite_bytes_per_s` is what both may have together; None is the larger of the two, as in SimGrid. Each operation waits
    for `latency_s` first. Without a capacity it takes any number of bytes. Operations have equal shares, or applications have,
    whatever the number of their operations (`fair_per_application`). `properties` are SimGrid's, which mean nothing here.
    """

    name: str
    read_bytes_per_s: float
    write_bytes_per_s: float
    readwrite_bytes_per_s: float | None = None
    latency_s: float = 0.0
    capacity_bytes: int | None = None
    properties: Mapping[str, str] = field(default_factory=no_properties, hash=False)
    fair_per_application: bool = False

    @property
    def together_bytes_per_s(self) -> float:
        """What reads and writes may have together."""
        return self.readwrite_bytes_per_s or max(self.read_bytes_per_s, self.write_bytes_per_s)

    def route(self, host_name: str, direction: Direction) -> Route:
        """What an operation on this disk of a host shares with others, as links; the latency is that of each operation."""
        name = f"{PREFIX}{host_name}/{self.name}"
        is_read = direction is Direction.READ
        rate = self.read_bytes_per_s if is_read else self.write_bytes_per_s
        own = Link(f"{name} {'reads' if is_read else 'writes'}", rate, 0.0, SharingPolicy.DISK)
        both = Link(name, self.together_bytes_per_s, 0.0, SharingPolicy.DISK)
        return Route((own, both), self.latency_s)
