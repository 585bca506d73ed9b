"""Describes a disk of a host, and the links (in the solver's sense) whose capacity the operations on the disk share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from rsg_server.platform.link import Link, Route, SharingPolicy
from rsg_server.platform.properties import no_properties

PREFIX = "disk "
"""The beginning of the names that a disk's links have in the solver: all operations of a disk share the link `disk
HOST/NAME`.
"""


class Direction(IntEnum):
    """The direction of a disk operation: a read or a write."""

    READ = 0
    WRITE = 1


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk, or an array of disks: the sums of bytes per second of all reads, and of all writes.

    `readwrite_bytes_per_s` is the limit for reads and writes together; None means the larger of the two limits, as in
    SimGrid. Each operation waits for `latency_s` first. A disk without a capacity takes any number of bytes. All
    operations have equal shares; with `fair_per_application`, all applications have equal shares, whatever the number
    of their operations. `properties` are SimGrid's, which have no effect here.
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
        """The bytes per second that reads and writes may have in total."""
        return self.readwrite_bytes_per_s or max(self.read_bytes_per_s, self.write_bytes_per_s)

    def route(self, host_name: str, direction: Direction) -> Route:
        """Return the links that an operation on this disk shares with others, as a route whose latency is that of the disk."""
        name = f"{PREFIX}{host_name}/{self.name}"
        is_read = direction is Direction.READ
        rate = self.read_bytes_per_s if is_read else self.write_bytes_per_s
        own = Link(f"{name} {'reads' if is_read else 'writes'}", rate, 0.0, SharingPolicy.DISK)
        both = Link(name, self.together_bytes_per_s, 0.0, SharingPolicy.DISK)
        return Route((own, both), self.latency_s)
