"""A TCP socket: its connection (or its queue, if it listens), and the bytes between the server's and the application's end.

The server reads bytes that the application has written from `end`. The server writes bytes that come through the
network to `end`; while the AF_UNIX pair is full, these bytes wait in `undelivered`. `bytes_read` and `bytes_pushed`
count the bytes of the two directions since the beginning of the connection. The place of an urgent byte is such a
count.
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
"""Reasons to keep bytes back: the last ones were sent with MSG_MORE; TCP_CORK is set."""
PIECES = 4
"""The number of pieces in which a window is read, if the socket's buffers were forced to be larger than usual."""
_SIOCATMARK = 0x8905
_FILLER = bytearray(1 << 18)
"""Where filler is read into, and is then ignored. It is as large as a socket's buffer usually is (net.core.wmem_default)."""


class Direction(Protocol):
    """One direction of a TCP connection; rsg_server.sockets.retransmission implements it."""

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
    """The connections of a listening socket that its application has not accepted yet."""

    backlog: int = 0
    pending: deque[StreamSocket] = field(default_factory=deque)
    tokens: int = 0  # bytes that were written to the listening application, and that no accept(2) has taken back
    # the number of tokens for which no actor that waits with EPOLLEXCLUSIVE was woken yet; at most `tokens`
    unannounced: int = 0


@dataclass(slots=True)
class Attempt:
    """The last attempt of a socket to connect."""

    waits: bool = False  # connect(2) was called on a blocking socket
    outcome: int | None = None  # the result of the attempt, until an actor asks for it
    # the attempt was ended by connect(2) to AF_UNSPEC; its error does not keep the socket from connecting again
    was_dissolved: bool = False


@dataclass(slots=True)
class Fin:
    """The state of the two FINs of a connection (one for each direction), and of shutdown(2)."""

    is_sent: bool = False  # the application sends nothing more
    is_heard: bool = False  # the peer's FIN has arrived
    is_first: bool = False  # the socket's FIN was sent before the peer's FIN arrived, so the socket's port goes into TIME_WAIT
    is_due: bool = False  # the application gets the end of data as soon as `undelivered` is empty
    reads_no_more: bool = False  # the application has shut the socket down for reading


@dataclass(slots=True)
class Cork:
    """Bytes that fill no whole segment, and that are kept back until the application writes more (MSG_MORE, TCP_CORK)."""

    reasons: int = 0  # the reasons for which bytes are kept back, as KEEPS_ bits
    data: bytearray = field(default_factory=bytearray)
    until: Event | None = None  # the event at which `data` is sent all the same


@dataclass(slots=True)
class Urgent:
    """Urgent bytes, sent with MSG_OOB."""

    is_sent: bool = False  # the application has sent an urgent byte that the server has not read yet
    places: deque[int] = field(default_factory=deque)  # the places of urgent bytes in the stream to the application


def _is_at_mark(end: socket.socket) -> bool:
    return fcntl.ioctl(end, _SIOCATMARK, bytes(4)) == struct.pack("=i", 1)


@dataclass(eq=False, repr=False, slots=True)
class StreamSocket(SimulatedSocket):
    """A TCP socket."""

    peer: StreamSocket | None = None
    flow: Direction | None = None
    heard_ns: int = 0  # virtual time of the last answer from the peer's host
    queue: AcceptQueue = field(default_factory=AcceptQueue)
    attempt: Attempt = field(default_factory=Attempt)
    fin: Fin = field(default_factory=Fin)
    cork: Cork = field(default_factory=Cork)
    urgent: Urgent = field(default_factory=Urgent)
    undelivered: bytearray = field(default_factory=bytearray)
    # bytes that came after the application had shut down reading (`fin.reads_no_more`): the AF_UNIX pair takes no more
    # bytes
    late: bytearray = field(default_factory=bytearray)
    bytes_read: int = 0  # the number of bytes since the beginning of the connection
    bytes_pushed: int = 0
    send_bytes: int = 0  # the buffer size that the application has forced by SO_SNDBUFFORCE
    receive_bytes: int = 0  # the buffer size that the application has forced by SO_RCVBUFFORCE

    @property
    def pair_type(self) -> int:
        """The type of the AF_UNIX pair: SOCK_STREAM."""
        return socket.SOCK_STREAM

    @property
    def buffer_bytes(self) -> int:
        """How many bytes may be on their way to the peer because both sides have forced larger buffers; 0 if not both have."""
        return 0 if self.peer is None else min(self.send_bytes, self.peer.receive_bytes)

    def read(self) -> bytes | None:
        """Return some bytes that the application has sent; b"" at the end of data, None if there are none now.

        Raises ConnectionResetError if the application has closed the socket with data unread.
        """
        try:
            data = self._read_urgent() or self.end.recv(max(READ_BYTES, self.buffer_bytes // PIECES))
        except BlockingIOError:
            return None
        self.bytes_read += len(data)
        return data

    def _read_urgent(self) -> bytes:
        """Return the urgent byte (sent with MSG_OOB) if it is the next byte of the stream, else b"". The peer learns
        the place of the urgent byte in the stream.
        """
        if not self.urgent.is_sent or not _is_at_mark(self.end):
            return b""
        self.urgent.is_sent = False
        if self.peer is not None:
            self.peer.urgent.places.append(self.bytes_read)
        return self.end.recv(1, socket.MSG_OOB)

    def begin_anew(self) -> None:
        """Forget the connection: afterwards the socket is like a new one, except for its options and its address."""
        self.state, self.remote, self.peer, self.flow = SocketState.OPEN, None, None, None
        self.bytes_read = self.bytes_pushed = self.queue.tokens = self.queue.unannounced = 0
        self.fin, self.urgent = Fin(), Urgent()
        self.was_shut_down, self.attempt.outcome = False, None
        self.undelivered.clear()
        self.late.clear()

    def drain(self) -> None:
        """Discard the filler in the pair, which makes a connecting socket not writable."""
        with contextlib.suppress(ConnectionResetError, BlockingIOError):
            while self.end.recv_into(_FILLER):
                pass

    def deliver(self, data: bytes) -> bool:
        """Give bytes to the application; bytes that do not fit into the pair wait. Return False if the application is gone."""
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
        """Give bytes that wait to the application, then the end of data if it is due.

        Return False if the application is gone.
        """
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
        """Store bytes that came after shutdown(2) for reading. Return False if no application can take them."""
        is_kept = self.fin.reads_no_more and not self.fin.is_sent
        if is_kept:
            self.late += data
        return is_kept

    def _send_piece(self) -> int:
        """Write the bytes before the next urgent byte, or the urgent byte alone, so that the urgent byte keeps its
        place. Return how many bytes were written.
        """
        before = self.urgent.places[0] - self.bytes_pushed
        if before > 0:
            return self.end.send(self.undelivered[:before])
        sent = self.end.send(self.undelivered[:1], socket.MSG_OOB)
        self.urgent.places.popleft()
        return sent
