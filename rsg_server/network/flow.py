"""One direction of one connection: bytes that queue, share links, and arrive in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from rsg_server.platform.link import Link, Route

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event
    from rsg_server.network.network import Network
    from rsg_server.network.sharing import Path

Action = Callable[[], None]


class Flow:
    """A flow is active while it has bytes that have not left the sender; `rate` is bytes per second then."""

    __slots__ = (
        "_deliver",
        "_network",
        "_queue",
        "arrival_ns",
        "departure",
        "in_flight_bytes",
        "is_cancelled",
        "links",
        "number",
        "path",
        "rate",
        "remaining_bytes",
        "route",
        "updated_ns",
        "variable",
    )

    def __init__(self, number: int, route: Route, path: Path, deliver: Callable[[bytes], None], network: Network) -> None:
        self.number = number
        self.route = route
        self.path = path
        self.variable = -1  # its number in the solver, while it is there
        self.links: tuple[Link, ...] = route.links
        self.rate = 0.0
        self.remaining_bytes = 0.0  # of the segment at the head of the queue, at `updated_ns`
        self.updated_ns = 0
        self.arrival_ns = 0  # of the latest segment that has left
        self.departure: Event | None = None
        self.in_flight_bytes = 0
        self.is_cancelled = False
        self._queue: deque[tuple[int, Action]] = deque()
        self._deliver = deliver
        self._network = network

    def __repr__(self) -> str:
        names = ", ".join(link.name for link in self.links)
        return f"flow {self.number} over {names} at {self.rate:g} B/s, {self.in_flight_bytes} bytes under way"

    @property
    def is_active(self) -> bool:
        """Whether anything waits to leave the sender."""
        return bool(self._queue)

    @property
    def window_bytes(self) -> int:
        """How much may be under way or undelivered before its sender has to wait."""
        return self.path.window_bytes

    def send(self, data: bytes) -> None:
        """Queue bytes; they are given to `deliver` once the last of them has arrived."""
        if self.is_cancelled:
            return
        self.in_flight_bytes += len(data)
        self._network.bytes_sent += len(data)
        self._add(len(data), lambda: self._arrive(data))

    def finish(self, action: Action) -> None:
        """Have `action` called when everything sent before has arrived."""
        self._add(0, lambda: None if self.is_cancelled else action())

    def cancel(self) -> None:
        """Forget everything under way; nothing is delivered any more."""
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

    def _add(self, size_bytes: int, action: Action) -> None:
        if self.is_cancelled:
            return
        self._queue.append((size_bytes, action))
        if len(self._queue) == 1:
            self.remaining_bytes = size_bytes
            self._network.join(self)

    def depart(self) -> None:
        """The head of the queue has left the sender; it arrives after the route's latency."""
        _, action = self._queue.popleft()
        self._network.arrive_later(self, action)
        if self._queue:
            self.remaining_bytes = self._queue[0][0]
            self._network.schedule(self)
        else:
            self._network.leave(self)
