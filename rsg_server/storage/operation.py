"""An operation on a disk: it waits for the disk's latency, then its bytes share the disk with those of other operations.

Invariant: once the operation has begun, `left_bytes` had not moved at `_updated_ns`, and have been moving at `_rate` since.
`_event` is at the moment when none will be left, rounded up to the nanosecond.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from rsg_server.clock.timeline import Event
from rsg_server.network.sharing import Group, Path, Sharing

NS = 10**9


class Carrier(Protocol):
    """The part of the network that an operation uses: its solver also shares disks."""

    sharing: Sharing

    @property
    def now_ns(self) -> int: ...
    def at(self, moment_ns: int, action: Callable[[], None], /) -> Event: ...


class Operation:
    """An operation of so many bytes in one direction; `finished` is called when all of them have moved.

    All operations of a `group`, if it is not None, have one share of the disk together.
    """

    __slots__ = (
        "_begun",
        "_carrier",
        "_event",
        "_finished",
        "_group",
        "_rate",
        "_updated_ns",
        "left_bytes",
        "number",
        "path",
        "variable",
    )

    def __init__(
        self,
        number: int,
        path: Path,
        size_bytes: int,
        carrier: Carrier,
        finished: Callable[[], object],
        group: Group = None,
    ) -> None:
        self.number = number
        self.path = path
        self.variable = -1  # the number of the operation in the solver; -1 while the operation is not in the solver
        self.left_bytes = float(size_bytes)
        self._rate = 0.0
        self._updated_ns = 0
        self._carrier = carrier
        self._finished = finished
        self._group = group
        self._begun = False
        self._event: Event | None = carrier.at(carrier.now_ns + round(path.latency_s * NS), self._begin)
        if carrier.sharing.usage is not None:
            carrier.sharing.usage.began(path.shared, carrier.now_ns)

    def __repr__(self) -> str:
        return f"operation {self.number} on {self.path.shared[0]} at {self._rate:g} B/s, {self.left_bytes:.0f} bytes left"

    def _begin(self) -> None:
        """Begin to share the disk, since the latency has passed."""
        self._event = None
        self._updated_ns = self._carrier.now_ns
        if not self.left_bytes:
            self._stop_counting()
            self._finished()
            return
        self._begun = True
        self._carrier.sharing.enter(self, self._group)

    def change_rate(self, rate: float) -> None:
        """Count the bytes that have moved at the old rate, and go on at another rate (bytes per second)."""
        self._account()
        self._rate = rate
        if self._event is not None:
            self._event.cancel()
        self._event = None
        if rate > 0:
            duration_ns = math.ceil(self.left_bytes * NS / rate)
            self._event = self._carrier.at(self._updated_ns + duration_ns, self._end)

    def refresh(self) -> None:
        """Take the new rate of a changed disk or link, if no other operation shares that disk or link."""
        if self._begun and self.variable < 0:
            self.change_rate(self.path.alone)

    def go_on(self, path: Path) -> None:
        """Go on over a path with other limits, or over the same path, whose limits have changed."""
        if path is self.path:
            self.refresh()
            return
        has_begun = self._begun
        if has_begun:
            self.change_rate(0.0)
            self._leave()
        self.path = path
        if has_begun:
            self._begun = True
            self._carrier.sharing.enter(self, self._group)

    def _account(self) -> None:
        now_ns = self._carrier.now_ns
        self._count(min(self.left_bytes, self._rate * (now_ns - self._updated_ns) / NS))
        self._updated_ns = now_ns

    def _count(self, moved_bytes: float) -> None:
        """Count bytes that have moved until now."""
        usage = self._carrier.sharing.usage
        if usage is not None and moved_bytes:
            usage.moved(self.path.shared, self._updated_ns, self._carrier.now_ns, moved_bytes)
        self.left_bytes -= moved_bytes

    def _stop_counting(self) -> None:
        if self._carrier.sharing.usage is not None:
            self._carrier.sharing.usage.ended(self.path.shared, self._carrier.now_ns)

    def _end(self) -> None:
        self._event = None
        self._count(self.left_bytes)
        self._leave()
        self._stop_counting()
        self._finished()

    def _leave(self) -> None:
        if self._begun:
            self._begun = False
            self._carrier.sharing.leave(self, self._group)

    def cancel(self) -> None:
        """End the operation early; `left_bytes` have not moved."""
        if self._event is not None:
            self._event.cancel()
            self._event = None
        if self._begun:
            self._account()
        self._leave()
        self._stop_counting()
