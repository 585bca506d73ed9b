"""A TCP socket: its connection, or its queue if it listens, and the bytes between the server's end and the application's.

Bytes that the application writes are read from `end`; bytes that reach the socket through the network are written to `end`,
and wait in `undelivered` while the pair is full. `bytes_read` and `bytes_pushed` count both since the beginning: places of
urgent bytes are told in these numbers.
"""

from __future__ import annotations

import contextlib
import fcntl
import socket
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from rsg_server.sockets.pair import SimulatedSocket, SocketState

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event

READ_BYTES = 65536
KEEPS_MORE, KEEPS_CORK = 1, 2
"""The last bytes were sent with MSG_MORE; TCP_CORK is set."""
PIECES = 4
"""In how many pieces a window is read, if its buffers have been forced to be larger than usual."""
_SIOCATMARK = 0x8905
_FILLER = bytearray(1 << 18)
"""Where filler is read into: as much as a socket's buffer usually holds (net.core.wmem_default), in one piece."""


class Direction(Protocol):
    """One direction of a connection; see rsg_server.sockets.retransmission."""

    @property
    def is_cancelled(self) -> bool: ...
    @property
    def is_retrying(self) -> bool: ...
    @property
    def in_flight_bytes(self) -> int: ...
    @property
    def window_bytes(self) -> int: ...
    def send(self, data: bytes) -> None: ...
    def finish(self, action: Callable[[], None]) -> None: ...
    def abandon(self, action: Callable[[], None]) -> None: ...
    def cancel(self) -> None: ...


@dataclass(slots=True)
class AcceptQueue:
    """Connections that a listener has taken and its application has not."""

    backlog: int = 0
    pending: deque[StreamSocket] = field(default_factory=deque)
    tokens: int = 0  # bytes sent to the listening application and not yet taken back by an accept
    unannounced: int = 0  # tokens for which no actor was woken yet that waits by EPOLLEXCLUSIVE; at most `tokens`


@dataclass(slots=True)
class Attempt:
    """The last connect of a socket."""

    waits: bool = False  # it is a blocking one
    outcome: int | None = None  # until an actor asks
    was_dissolved: bool = False  # by connect(2) to AF_UNSPEC; its error does not keep the socket from connecting again


@dataclass(slots=True)
class Fin:
    """What has become of the two FINs of a connection, and of shutdown(2)."""

    is_sent: bool = False  # the application sends no more
    is_heard: bool = False  # the peer's FIN has come
    is_first: bool = False  # sent before the peer's FIN had come: its port goes into TIME_WAIT
    is_due: bool = False  # to be shown to the application once `undelivered` is empty
    reads_no_more: bool = False  # the application has shut the socket down for reading


@dataclass(slots=True)
class Cork:
    """A piece that fills no segment and waits for more."""

    reasons: int = 0  # KEEPS_: why such a piece is kept back
    data: bytearray = field(default_factory=bytearray)
    until: Event | None = None  # when `data` is sent all the same


@dataclass(slots=True)
class Urgent:
    """Bytes sent with MSG_OOB."""

    is_sent: bool = False  # the application has sent one, which has not been read yet
    places: deque[int] = field(default_factory=deque)  # of urgent bytes in the stream to the application


def _is_at_mark(end: socket.socket) -> bool:
    return fcntl.ioctl(end, _SIOCATMARK, bytes(4)) == struct.pack("=i", 1)


@dataclass(eq=False, repr=False, slots=True)
class StreamSocket(SimulatedSocket):
    """A TCP socket."""

    peer: StreamSocket | None = None
    flow: Direction | None = None
    heard_ns: int = 0  # when its peer's host last answered
    queue: AcceptQueue = field(default_factory=AcceptQueue)
    attempt: Attempt = field(default_factory=Attempt)
    fin: Fin = field(default_factory=Fin)
    cork: Cork = field(default_factory=Cork)
    urgent: Urgent = field(default_factory=Urgent)
    undelivered: bytearray = field(default_factory=bytearray)
    late: bytearray = field(default_factory=bytearray)  # what has come since `fin.reads_no_more`, for which the pair is shut
    bytes_read: int = 0  # since the beginning
    bytes_pushed: int = 0
    send_bytes: int = 0  # the buffer that the application has forced by SO_SNDBUFFORCE
    receive_bytes: int = 0  # by SO_RCVBUFFORCE

    @property
    def pair_type(self) -> int:
        """The type of the AF_UNIX pair."""
        return socket.SOCK_STREAM

    @property
    def buffer_bytes(self) -> int:
        """How much may be under way towards the peer because both sides have forced larger buffers."""
        return 0 if self.peer is None else min(self.send_bytes, self.peer.receive_bytes)

    def read(self) -> bytes | None:
        """A piece of what the application has sent; b"" at the end, None if there is nothing now.

        Raises ConnectionResetError if the application closed with data unread.
        """
        try:
            data = self._read_urgent() or self.end.recv(max(READ_BYTES, self.buffer_bytes // PIECES))
        except BlockingIOError:
            return None
        self.bytes_read += len(data)
        return data

    def _read_urgent(self) -> bytes:
        """The byte that was sent with MSG_OOB, if it is the next one; the peer learns its place in the stream."""
        if not self.urgent.is_sent or not _is_at_mark(self.end):
            return b""
        self.urgent.is_sent = False
        if self.peer is not None:
            self.peer.urgent.places.append(self.bytes_read)
        return self.end.recv(1, socket.MSG_OOB)

    def begin_anew(self) -> None:
        """Forget the connection that was: the socket is as if it had just been made, but for its options and its address."""
        self.state, self.remote, self.peer, self.flow = SocketState.OPEN, None, None, None
        self.bytes_read = self.bytes_pushed = self.queue.tokens = self.queue.unannounced = 0
        self.fin, self.urgent = Fin(), Urgent()
        self.was_shut_down, self.attempt.outcome = False, None
        self.undelivered.clear()
        self.late.clear()

    def drain(self) -> None:
        """Throw away the filler that makes a connecting socket not writable."""
        with contextlib.suppress(ConnectionResetError, BlockingIOError):
            while self.end.recv_into(_FILLER):
                pass

    def deliver(self, data: bytes) -> bool:
        """Give the application bytes; what does not fit waits. False if the application is gone."""
        if self.undelivered or self.urgent.places:
            self.undelivered += data
            return self.push()
        try:
            sent = self.end.send(data)
        except BlockingIOError:
            sent = 0
        except (BrokenPipeError, ConnectionResetError):
            return self._keep_late(data)
        self.bytes_pushed += sent
        self.undelivered += memoryview(data)[sent:]
        return True

    def push(self) -> bool:
        """Give the application bytes that wait, then the end if it is due; False if the application is gone."""
        while self.undelivered:
            try:
                sent = self._send_piece() if self.urgent.places else self.end.send(self.undelivered)
            except BlockingIOError:
                return True
            except (BrokenPipeError, ConnectionResetError):
                is_kept = self._keep_late(self.undelivered)
                self.undelivered.clear()
                return is_kept
            del self.undelivered[:sent]
            self.bytes_pushed += sent
        if self.fin.is_due:
            self.fin.is_due = False
            with contextlib.suppress(OSError):
                self.end.shutdown(socket.SHUT_WR)
        return True

    def _keep_late(self, data: bytes | bytearray) -> bool:
        """Keep what has come since the application shut the socket down for reading; False if there is nobody to take it."""
        is_kept = self.fin.reads_no_more and not self.fin.is_sent
        if is_kept:
            self.late += data
        return is_kept

    def _send_piece(self) -> int:
        """Send what comes before the next urgent byte, or that byte alone: urgent data keeps its place in the stream."""
        before = self.urgent.places[0] - self.bytes_pushed
        if before > 0:
            return self.end.send(self.undelivered[:before])
        sent = self.end.send(self.undelivered[:1], socket.MSG_OOB)
        self.urgent.places.popleft()
        return sent
