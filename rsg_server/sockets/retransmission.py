"""One direction of a TCP connection: sends lost bytes again as TCP does, until they arrive or the time for that is over.

The flow that carries the bytes loses nothing by itself. Bytes that arrive while the way is cut, or at a host that is
off, count as lost. The lost bytes and all bytes that follow are held, and sent again after the retransmission timeout,
which doubles each time (RFC 6298; Linux: net/ipv4/tcp_timer.c). If packets get through at such a moment, all held bytes
are sent at once. Fast retransmission, by which real TCP often sends lost bytes earlier, is not modelled. While bytes
are held, one timer runs, and later bytes are neither sent nor delivered, so that the order of bytes is kept.
"""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rsg_server.capture.capture import Capture
    from rsg_server.clock.timeline import Event, Timeline
    from rsg_server.shared.clock import Clock
    from rsg_server.sockets.kinds.stream import StreamSocket
    from rsg_server.sockets.pair import SimulatedSocket
    from rsg_server.sockets.wire import Wire

Action = Callable[[], None]
MS = 10**6
RTO_MIN_NS = 200 * MS
RTO_MAX_NS = 120 * 10**9
RETRIED_BYTES = 1448
RETRIES = 15
"""How often held bytes are sent again (tcp_retries2): the sender gives up 924.6 s after the first loss (tcp(7))."""
USER_TIMEOUT = (6, 18)
"""The option TCP_USER_TIMEOUT in milliseconds, as (level, option); 0 for the default."""


def user_timeout_ns(which: SimulatedSocket) -> int:
    """Return how long (ns) data may stay unacknowledged, as the application has set it; 0 if it has set no limit."""
    return int.from_bytes(which.options.get(USER_TIMEOUT, b"")[:4], "little") * MS


@dataclass(frozen=True, slots=True)
class _Held:
    """A lost part of a stream: bytes and their offset in the stream; or, for a lost FIN, no bytes and the `action` that
    its arrival causes.
    """

    data: bytes
    offset: int
    action: Action | None


class Ends(Protocol):
    """The sockets at the ends of connections (rsg_server.sockets.stream.Streams), as far as they are used here."""

    def arrived(self, which: StreamSocket, data: bytes) -> None:
        """Deliver bytes that have arrived for a socket."""

    def abort(self, which: StreamSocket, code: int) -> None:
        """End the connection of a socket, because it has failed with an errno."""


class Retransmission:
    """The `Direction` of a connection (see rsg_server.sockets.kinds.stream) from one socket to another."""

    def __init__(
        self, clock: Clock, timeline: Timeline, wire: Wire, streams: Ends, sender: StreamSocket, receiver: StreamSocket
    ) -> None:
        self._clock, self._timeline, self._wire, self._streams = clock, timeline, wire, streams
        self._sender = sender
        self._receiver = receiver
        self._flow = wire.network.open_flow(sender.host.host, receiver.host.host, self._arrived)
        # if a watcher or a capture observes the wire: (moment of sending, offset) of each piece
        self._under_way: deque[tuple[int, int]] = deque()
        self._offset = 0  # the offset of the stream's next byte
        self._left_ns = 0  # when the last byte of the latest piece has left the sender
        self._held: deque[_Held] = deque()  # the lost parts of the stream, the oldest first
        self._held_bytes = 0
        self._timer: Event | None = None
        self._retries = 0
        self._lost_ns = 0  # when the first of the held bytes was lost

    def __repr__(self) -> str:
        return f"{self._flow!r}, {self._held_bytes} bytes lost and to be sent again"

    @property
    def is_cancelled(self) -> bool:
        """Whether the stream was cancelled, so that no bytes are delivered any more."""
        return self._flow.is_cancelled

    @property
    def in_flight_bytes(self) -> int:
        """The bytes that are on their way, or that were lost and will be sent again."""
        return self._flow.in_flight_bytes + self._held_bytes

    @property
    def window_bytes(self) -> int:
        """The most bytes that may be on their way or unread by the receiver; with more, the sender has to wait."""
        return self._flow.window_bytes

    @property
    def is_retrying(self) -> bool:
        """Whether bytes were lost and have not arrived yet."""
        return bool(self._held)

    def send(self, data: bytes) -> None:
        """Send bytes to the receiver."""
        for reader in self._wire.readers:
            reader.sent(self._sender, len(data))
        offset, self._offset = self._offset, self._offset + len(data)
        self._send(data, offset)

    def _send(self, data: bytes, offset: int) -> None:
        if self._hold_if_lost(data, offset):
            self._show(data, offset, self._clock.now_ns, self._clock.now_ns, None)
            return
        if self._wire.is_looked_at:
            self._under_way.append((self._clock.now_ns, offset))
        self._flow.send(data)

    def finish(self, action: Action) -> None:
        """Send a FIN; `action` is called when it arrives, after everything that was sent before."""
        if self._hold_if_lost(b"", self._offset, action):
            self._show_end(self._clock.now_ns, None)
        else:
            self._flow.finish(lambda: self._end_arrives(action))

    def _end_arrives(self, action: Action) -> None:
        left_ns = self._leaves_last_ns()
        if self._hold_if_lost(b"", self._offset, action):
            self._show_end(left_ns, None)
            return
        self._show_end(left_ns, self._clock.now_ns)
        action()

    def abandon(self, action: Action) -> None:
        """Send an RST; `action` is called when it arrives.

        TCP never repeats an RST: if the RST is lost, all bytes that were held are lost as well.
        """

        def arrive() -> None:
            if not self._held and self._is_free:
                self._show_reset()
                action()

        if self._held:
            self.cancel()
        else:
            self._flow.finish(arrive)

    def cancel(self) -> None:
        """Discard all bytes that are on their way or held."""
        self._flow.cancel()
        self._held.clear()
        self._held_bytes = 0
        self._under_way.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def _is_free(self) -> bool:
        return self._wire.reaches(self._sender.host, self._receiver.host)

    def _hold_if_lost(self, data: bytes, offset: int, action: Action | None = None) -> bool:
        """Hold a part of the stream that cannot pass, or that comes after a held part. Return whether the part is held."""
        if self.is_cancelled or (not self._held and self._is_free):
            return False
        self._held.append(_Held(data, offset, action))
        self._held_bytes += len(data)
        if self._timer is None:
            self._retries = 0
            self._lost_ns = self._clock.now_ns
            self._wait()
        return True

    def _arrived(self, data: bytes) -> None:
        offset = self._offset
        begin_ns = self._clock.now_ns
        if self._under_way:
            begin_ns, offset = self._tell(len(data))
        is_lost = self._hold_if_lost(data, offset)
        self._show(data, offset, begin_ns, self._left_ns, None if is_lost else self._clock.now_ns)
        if is_lost:
            return
        if self._receiver.vanished:
            self._refused()
            return
        latency_ns = self._wire.latency_ns(self._receiver.host, self._sender.host)
        self._receiver.heard_ns, self._sender.heard_ns = self._clock.now_ns, self._clock.now_ns + latency_ns
        for reader in self._wire.readers:
            reader.arrived(self._sender, self._receiver, data)
        self._streams.arrived(self._receiver, data)

    def _refused(self) -> None:
        """Let the receiver's host answer with an RST, because it has booted anew and knows nothing of the connection."""
        sender, receiver, clock = self._sender, self._receiver, self._clock
        self._wire.packet(
            receiver.host,
            sender.host,
            lambda: self._streams.abort(sender, errno.ECONNRESET),
            frames=lambda capture: capture.reset(receiver, clock.now_ns),
        )

    # Reports to watchers and captures

    def _tell(self, size_bytes: int) -> tuple[int, int]:
        """Tell the watchers that a piece of the stream has arrived. Return when it began to leave, and its offset in
        the stream.

        The moment at which the last byte of a piece left follows from the latency, since a flow sends one piece after
        the other.
        """
        wire, source, destination = self._wire, self._sender.host, self._receiver.host
        sent_ns, offset = self._under_way.popleft()
        begin_ns = max(sent_ns, self._left_ns)
        self._left_ns = max(begin_ns, self._clock.now_ns - wire.latency_ns(source, destination))
        wire.moved(source, destination, begin_ns, size_bytes, self._left_ns)
        return begin_ns, offset

    @property
    def _capture(self) -> Capture | None:
        """The capture, unless both ends are on one host: eth0 does not see loopback traffic."""
        return self._wire.capture if self._sender.host is not self._receiver.host else None

    def _show(self, data: bytes, offset: int, begin_ns: int, left_ns: int, arrived_ns: int | None) -> None:
        capture = self._capture
        if capture is not None:
            capture.data(self._sender, offset, data, begin_ns, left_ns, arrived_ns)

    def _leaves_last_ns(self) -> int:
        """Return when the last byte of a piece left the sender; the piece arrives now, or would arrive if it were not lost."""
        there, back = self._sender.host, self._receiver.host
        return max(self._left_ns, self._clock.now_ns - self._wire.latency_ns(there, back))

    def _show_end(self, left_ns: int, arrived_ns: int | None) -> None:
        capture = self._capture
        if capture is not None:
            capture.end(self._sender, left_ns, arrived_ns)

    def _show_reset(self) -> None:
        capture = self._capture
        if capture is not None:
            left_ns = self._leaves_last_ns()
            for frame in capture.reset(self._sender, left_ns):
                capture.record(self._sender.host.name, left_ns, frame)
                capture.record(self._receiver.host.name, self._clock.now_ns, frame)

    def _show_attempt(self) -> None:
        """Record in the capture that the first held segment leaves again, and is lost again."""
        first, now_ns = self._held[0], self._clock.now_ns
        if first.data:
            self._show(first.data[:RETRIED_BYTES], first.offset, now_ns, now_ns, None)
        else:
            self._show_end(now_ns, None)

    # Sending lost bytes again

    @property
    def _timeout_ns(self) -> int:
        """The retransmission timeout (ns): a round trip and 200 ms, doubled with each attempt up to 120 s."""
        wire = self._wire
        there, back = self._sender.host, self._receiver.host
        first_ns = RTO_MIN_NS + wire.latency_ns(there, back) + wire.latency_ns(back, there)
        return min(first_ns << self._retries, RTO_MAX_NS)

    def _wait(self) -> None:
        now_ns = self._clock.now_ns
        due_ns = now_ns + self._timeout_ns
        limit_ns = user_timeout_ns(self._sender)
        if limit_ns:
            due_ns = max(now_ns, min(due_ns, self._lost_ns + limit_ns))
        self._timer = self._timeline.add(due_ns, self._retry)

    def _retry(self) -> None:
        self._timer = None
        if self._sender.host.name in self._wire.reach.off:
            return
        if self._is_free:
            self._send_again()
        elif self._retries >= RETRIES or self._is_past_user_timeout:
            self.cancel()
            self._streams.abort(self._sender, errno.ETIMEDOUT)
        else:
            self._retries += 1
            self._show_attempt()
            self._wait()

    @property
    def _is_past_user_timeout(self) -> bool:
        limit_ns = user_timeout_ns(self._sender)
        return bool(limit_ns) and self._clock.now_ns - self._lost_ns >= limit_ns

    def _send_again(self) -> None:
        held, self._held, self._held_bytes = self._held, deque(), 0
        if self._receiver.vanished:
            self._wire.packet(self._sender.host, self._receiver.host, self._refused)
            return
        for each in held:
            if each.action is None:
                self._send(each.data, each.offset)
            else:
                self.finish(each.action)
