"""One direction of a connection: bytes that wait at the sender, share links with other flows, and arrive in order.

Bytes that are sent together are a segment. Invariant: while the flow is active, `remaining_bytes` of the first waiting
segment had not left at `updated_ns`, and leave at `rate` since then. `departure` is the event at which the whole
segment will have left.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Protocol

from rsg_server.clock.timeline import Event
from rsg_server.network.sharing import Path
from rsg_server.platform.link import Link, Route

NS = 10**9
Action = Callable[[], None]


class Carrier(Protocol):
    """The part of the network that a flow uses."""

    bytes_sent: int

    @property
    def now_ns(self) -> int: ...
    def join(self, flow: Flow, /) -> None: ...
    def leave(self, flow: Flow, /) -> None: ...
    def settle(self) -> None: ...
    def at(self, moment_ns: int, action: Action, /) -> Event: ...
    def extra_ns(self, route: Route, /) -> int: ...
    def cut(self, route: Route, size_bytes: int, /) -> tuple[int, int]: ...


class Flow:
    """A direction of a connection.

    The flow is active while some of its bytes have not left the sender; its `rate` is in bytes/s.
    """

    __slots__ = (
        "_deliver",
        "_network",
        "_queue",
        "arrival_ns",
        "departure",
        "in_flight_bytes",
        "is_cancelled",
        "is_within_host",
        "links",
        "number",
        "path",
        "rate",
        "remaining_bytes",
        "route",
        "updated_ns",
        "variable",
    )

    def __init__(self, number: int, route: Route, path: Path, deliver: Callable[[bytes], None], network: Carrier) -> None:
        self.number = number
        self.route = route
        self.path = path
        self.variable = -1  # the number that the solver has given to the flow; -1 while the flow is not in the solver
        self.links: tuple[Link, ...] = route.links
        self.rate = 0.0
        self.remaining_bytes = 0.0  # bytes of the first waiting segment that had not left at `updated_ns`
        self.updated_ns = 0
        self.arrival_ns = 0  # of the segment that left last
        self.departure: Event | None = None
        self.in_flight_bytes = 0
        self.is_cancelled = False
        self.is_within_host = False
        # for each segment: its size, what is called at its arrival, and by how many ns it is late
        self._queue: deque[tuple[int, Action, int]] = deque()
        self._deliver = deliver
        self._network = network

    def __repr__(self) -> str:
        names = ", ".join(link.name for link in self.links)
        return f"flow {self.number} over {names} at {self.rate:g} B/s, {self.in_flight_bytes} bytes under way"

    @property
    def is_active(self) -> bool:
        """Whether some bytes have not left the sender."""
        return bool(self._queue)

    @property
    def window_bytes(self) -> int:
        """The most bytes that may be on their way or unread by the receiver; with more, the sender has to wait."""
        return self.path.window_bytes

    def send(self, data: bytes) -> None:
        """Send bytes. `deliver` is called with them when the last of them has arrived."""
        if self.is_cancelled:
            return
        self.in_flight_bytes += len(data)
        self._network.bytes_sent += len(data)
        first, late_ns = (0, 0) if self.is_within_host else self._network.cut(self.route, len(data))
        if first:
            self._send(data[:first], 0)
        self._send(data[first:], late_ns)

    def _send(self, data: bytes, late_ns: int) -> None:
        self._add(len(data), lambda: self._arrive(data), late_ns)

    def finish(self, action: Action) -> None:
        """Have `action` called when everything that was sent before has arrived."""
        self._add(0, lambda: None if self.is_cancelled else action())

    def cancel(self) -> None:
        """Discard all bytes of the flow that have not arrived: `deliver` is not called for them."""
        self.is_cancelled = True
        self.in_flight_bytes = 0
        if self._queue:
            self._queue.clear()
            if self.departure is not None:
                self.departure.cancel()
            self._network.leave(self)

    def _arrive(self, data: bytes) -> None:
        if not self.is_cancelled:
            self.in_flight_bytes -= len(data)
            self._deliver(data)

    def _add(self, size_bytes: int, action: Action, late_ns: int = 0) -> None:
        if self.is_cancelled:
            return
        self._queue.append((size_bytes, action, late_ns))
        if len(self._queue) == 1:
            self.remaining_bytes = float(size_bytes)
            self._network.join(self)

    def change_rate(self, rate: float) -> None:
        """Account for the bytes that have left at the old rate, and go on at another rate (bytes per second)."""
        now = self._network.now_ns
        self.remaining_bytes = max(0.0, self.remaining_bytes - self.rate * (now - self.updated_ns) / NS)
        self.updated_ns = now
        self.rate = rate
        self._schedule()

    def _schedule(self) -> None:
        """Set the moment at which the first waiting segment will have left at the present rate, rounded up to the ns."""
        self.updated_ns = max(self.updated_ns, self._network.now_ns)
        if self.departure is not None:
            self.departure.cancel()
        if self.remaining_bytes > 0 and self.rate <= 0:
            self.departure = None  # a link without bandwidth: nothing leaves until its bandwidth changes
            return
        duration_ns = math.ceil(self.remaining_bytes * NS / self.rate) if self.remaining_bytes > 0 else 0
        self.departure = self._network.at(self.updated_ns + duration_ns, self.depart)

    def _arrival(self, late_ns: int) -> int:
        """Return when the segment arrives (virtual ns) that has left the sender just now: not before an earlier segment."""
        latency_ns = self.route.latency_ns + late_ns
        if not self.is_within_host:
            latency_ns += self._network.extra_ns(self.route)
        self.arrival_ns = max(self.arrival_ns, self._network.now_ns + latency_ns)
        return self.arrival_ns

    def depart(self) -> None:
        """Handle that the first segment has left the sender: it arrives after the latency, and the next one begins to leave.

        A segment never arrives before an earlier one, even if the latency has shrunk in between.
        """
        _, action, late_ns = self._queue.popleft()
        self._network.at(self._arrival(late_ns), action)
        if self._queue:
            self.remaining_bytes = float(self._queue[0][0])
            self._schedule()
        else:
            self._network.leave(self)
