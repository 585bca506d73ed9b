"""Counts and limits the reads and writes of groups of processes at the storages of their host: io.stat and io.max of
cgroups(7).

A limit of bytes per second is one more constraint of the solver, shared by all operations of the group and of the groups
below. Under a limit of operations per second, each operation begins, at the earliest, the limit's interval after the one
before. Invariant: every operation that has begun is counted in its group and in all groups above.
"""

from __future__ import annotations

from collections.abc import Iterator

from rsg_server.platform.disk import Direction
from rsg_server.platform.link import Link, SharingPolicy

NS = 10**9
Way = tuple[int, int]
"""The number of a disk of the host, and a direction."""


class Pace:
    """The moments at which operations may begin, so many per second.

    `latest_ns` is the moment at which the latest operation began, `taken_ns` the latest moment that was given to an operation.
    """

    __slots__ = ("interval_ns", "latest_ns", "taken_ns")

    def __init__(self, operations_per_s: int) -> None:
        self.interval_ns = 0
        self.latest_ns = self.taken_ns = -(1 << 62)
        self.change(operations_per_s)

    def change(self, operations_per_s: int) -> None:
        """Change the pace. Operations that wait ask for a new moment."""
        self.interval_ns = -(-NS // operations_per_s)
        self.taken_ns = self.latest_ns

    def take(self, now_ns: int) -> int:
        """Return the moment at which one more operation may begin."""
        self.taken_ns = max(now_ns, self.taken_ns + self.interval_ns)
        if self.taken_ns == now_ns:
            self.latest_ns = now_ns
        return self.taken_ns


class Account:
    """A group: its limits, and its bytes and operations by disk and direction. `name` is unique in the run."""

    __slots__ = ("_bytes_per_s", "_counts", "_paces", "name", "parent")

    def __init__(self, name: str, parent: Account | None = None) -> None:
        self.name = name
        self.parent = parent
        self._bytes_per_s: dict[Way, float] = {}
        self._paces: dict[Way, Pace] = {}
        self._counts: dict[Way, tuple[int, int]] = {}

    def up(self) -> Iterator[Account]:
        """Yield the account itself, then those above."""
        account: Account | None = self
        while account is not None:
            yield account
            account = account.parent

    # Limits

    def limit(self, way: Way, bytes_per_s: float | None, operations_per_s: int | None) -> None:
        """Set the limits of the group at a disk from now on; None is no limit."""
        if bytes_per_s is None:
            self._bytes_per_s.pop(way, None)
        else:
            self._bytes_per_s[way] = bytes_per_s
        if operations_per_s is None:
            self._paces.pop(way, None)
        elif way in self._paces:
            self._paces[way].change(operations_per_s)
        else:
            self._paces[way] = Pace(operations_per_s)

    def own_link(self, way: Way) -> Link | None:
        """Return the constraint that all operations of the group share besides the disk; None if the group has no limit."""
        rate = self._bytes_per_s.get(way)
        if rate is None:
            return None
        disk, direction = way
        return Link(f"{self.name} {disk} {Direction(direction).name.lower()}", rate, 0.0, SharingPolicy.DISK)

    def links(self, way: Way) -> tuple[Link, ...]:
        """Return the constraints of an operation besides the disk, from the limits of its group and of those above."""
        return tuple(link for account in self.up() if (link := account.own_link(way)) is not None)

    def take_moment(self, way: Way, now_ns: int) -> int:
        """Return the moment at which one more operation may begin, by the limit of this group alone."""
        pace = self._paces.get(way)
        return now_ns if pace is None else pace.take(now_ns)

    def moment_has_come(self, way: Way, now_ns: int) -> None:
        """Note that an operation has waited for its moment in this group and goes on."""
        if way in self._paces:
            self._paces[way].latest_ns = now_ns

    # Counts

    def count(self, way: Way, size_bytes: int) -> None:
        """Count an operation that begins, in this group and all above."""
        for account in self.up():
            bytes_before, operations_before = account._counts.get(way, (0, 0))
            account._counts[way] = bytes_before + size_bytes, operations_before + 1

    def counted(self, way: Way) -> tuple[int, int]:
        """Return the bytes and operations of the group so far."""
        return self._counts.get(way, (0, 0))
