"""Turns a simulated TCP connection into TCP segments, with sequence numbers, acknowledgements and the moments of each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from rsg_server.capture.frames import Endpoint, Flags, mss, tcp

Record = Callable[[str, int, bytes], None]
"""A function that records a frame; its arguments are the host's name, virtual time in ns, and the frame's bytes."""
KEPT = 4096


@dataclass(slots=True)
class Side:
    """One end of a TCP connection. `first` is the initial sequence number.

    From virtual time `moments[i]` (ns) on, the segments of this end carry the acknowledgement number `heard[i]`.
    """

    host: str
    endpoint: Endpoint
    first: int
    sent: int = 0  # bytes of the stream that were sent so far, SYN and FIN not counted
    moments: list[int] = field(default_factory=list)
    heard: list[int] = field(default_factory=list)

    def hear(self, moment_ns: int, following: int) -> None:
        """Note that this end has received all bytes before sequence number `following` at `moment_ns`.

        At least the last KEPT such moments are kept.
        """
        self.moments.append(moment_ns)
        self.heard.append(following)
        if len(self.moments) > 2 * KEPT:
            del self.moments[:KEPT], self.heard[:KEPT]

    def acknowledges(self, moment_ns: int) -> int:
        """Return the acknowledgement number of a segment that this end sends at `moment_ns`."""
        index = bisect_right(self.moments, moment_ns) - 1
        return self.heard[max(index, 0)] if self.heard else 0


@dataclass(slots=True)
class Conversation:
    """A TCP connection between two hosts. Moments are virtual ns. `record` is called with every frame that passes a host."""

    client: Side
    server: Side
    record: Record

    def other(self, side: Side) -> Side:
        """Return the opposite end of the connection."""
        return self.server if side is self.client else self.client

    def _segment(self, side: Side, offset: int, flags: Flags, moment_ns: int, data: bytes = b"") -> bytes:
        acknowledged = side.acknowledges(moment_ns)
        return tcp(side.endpoint, self.other(side).endpoint, side.first + 1 + offset, acknowledged, flags, data)

    def syn(self) -> bytes:
        """Return the frame of the client's SYN, the connection's first segment."""
        return tcp(self.client.endpoint, self.server.endpoint, self.client.first, 0, Flags.SYN)

    def syn_ack(self, moment_ns: int) -> bytes:
        """Return the frame of the server's SYN-ACK, sent at `moment_ns`."""
        self.server.hear(moment_ns, self.client.first + 1)
        return tcp(self.server.endpoint, self.client.endpoint, self.server.first, self.client.first + 1, Flags.SYN | Flags.ACK)

    def refusal(self) -> bytes:
        """Return the frame of the RST by which the server's host refuses the client's SYN."""
        return tcp(self.server.endpoint, self.client.endpoint, 0, self.client.first + 1, Flags.RST | Flags.ACK)

    def established(self, moment_ns: int, latency_ns: int) -> None:
        """Record the ACK that the client sends at `moment_ns` for the SYN-ACK; it arrives `latency_ns` later."""
        self.client.hear(moment_ns, self.server.first + 1)
        frame = self._segment(self.client, 0, Flags.ACK, moment_ns)
        self.record(self.client.host, moment_ns, frame)
        self.record(self.server.host, moment_ns + latency_ns, frame)

    def data(self, side: Side, offset: int, data: bytes, begin_ns: int, left_ns: int, arrived_ns: int | None) -> None:
        """Record the segments of `data`, and their acknowledgements.

        The bytes leave evenly between `begin_ns` and `left_ns`; `offset` is their place in the stream. The last byte
        arrives at `arrived_ns`; None says that the bytes were lost. All moments are virtual ns.
        """
        size = mss(side.endpoint.ip)
        other = self.other(side)
        side.sent = max(side.sent, offset + len(data))
        starts = range(0, len(data), size)
        for count, start in enumerate(starts, 1):
            piece = data[start : start + size]
            is_last = start + size >= len(data)
            left = begin_ns + (left_ns - begin_ns) * (start + len(piece)) // len(data)
            flags = Flags.ACK | Flags.PSH if is_last else Flags.ACK
            frame = self._segment(side, offset + start, flags, left, piece)
            self.record(side.host, left, frame)
            if arrived_ns is not None:
                arrives = arrived_ns - (left_ns - left)
                self.record(other.host, arrives, frame)
                other.hear(arrives, side.first + 1 + offset + start + len(piece))
                if is_last or count % 2 == 0:
                    self.acknowledge(other, arrives, arrived_ns - left_ns)

    def acknowledge(self, side: Side, moment_ns: int, latency_ns: int) -> None:
        """Record an empty segment that acknowledges all that `side` has received; it arrives `latency_ns` after `moment_ns`."""
        frame = self._segment(side, side.sent, Flags.ACK, moment_ns)
        self.record(side.host, moment_ns, frame)
        self.record(self.other(side).host, moment_ns + latency_ns, frame)

    def end(self, side: Side, left_ns: int, arrived_ns: int | None) -> None:
        """Record the FIN that `side` sends at `left_ns` and, unless it was lost (`arrived_ns` is None), its acknowledgement."""
        frame = self._segment(side, side.sent, Flags.FIN | Flags.ACK, left_ns)
        self.record(side.host, left_ns, frame)
        if arrived_ns is not None:
            other = self.other(side)
            self.record(other.host, arrived_ns, frame)
            side.sent += 1  # a FIN takes one sequence number
            other.hear(arrived_ns, side.first + 1 + side.sent)
            self.acknowledge(other, arrived_ns, arrived_ns - left_ns)

    def reset(self, side: Side, moment_ns: int) -> bytes:
        """Return the frame of the RST that `side` sends at `moment_ns`."""
        return self._segment(side, side.sent, Flags.RST | Flags.ACK, moment_ns)
