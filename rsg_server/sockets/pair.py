"""A simulated socket: an AF_UNIX pair of which the server holds one end, with its state, its buffers and its back-pressure.

The application holds the other end, as an ordinary descriptor. Bytes that the application writes are read from `end`; bytes
that reach the socket through the network are written to `end`, and wait in `undelivered` while the pair is full. `bytes_read`
and `bytes_pushed` count both since the beginning: places of urgent bytes are told in these numbers.
"""

from __future__ import annotations

import contextlib
import fcntl
import select
import socket
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from rsg_server.process.host_state import HostState

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event
    from rsg_server.fd_store.store import FdStore
    from rsg_server.process.process import Process

READ_BYTES = 65536
KEEPS_MORE, KEEPS_CORK = 1, 2
"""The last bytes were sent with MSG_MORE; TCP_CORK is set."""
PIECES = 4
"""In how many pieces a window is read, if its buffers have been forced to be larger than usual."""
READ_EVENTS = select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLPRI
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


def _is_at_mark(end: socket.socket) -> bool:
    return fcntl.ioctl(end, _SIOCATMARK, bytes(4)) == struct.pack("=i", 1)


@dataclass(frozen=True, slots=True)
class Address:
    """An IPv4 or IPv6 endpoint: 4 or 16 bytes in network order, and a port."""

    ip: bytes
    port: int

    @property
    def family(self) -> int:
        """4 or 6."""
        return 4 if len(self.ip) == 4 else 6

    def __str__(self) -> str:
        text = socket.inet_ntop(socket.AF_INET if self.family == 4 else socket.AF_INET6, self.ip)
        return f"{text}:{self.port}" if self.family == 4 else f"[{text}]:{self.port}"


class SocketState(Enum):
    """TCP's states as far as an application can tell them apart; datagram sockets stay OPEN or become CONNECTED."""

    OPEN = "open"
    LISTENING = "listening"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    CLOSED = "closed"


@dataclass(eq=False, slots=True)
class SimulatedSocket:
    """A socket of an emulated host. `app_end` is the application's end until it is handed out (pending connections)."""

    number: int
    host: HostState
    family: int  # 4, 6; 16 netlink
    kind: str  # 's' stream, 'd' datagram, 'i' ping socket, 'r' raw socket, 'n' netlink
    held: socket.socket | None  # `end`; None while the descriptor store has it
    app_end: socket.socket | None
    type: int = 0  # as it was asked for: SOCK_
    protocol: int = 0
    owner: Process | None = None  # the process that the server gave the application's end to
    inode: int = 0  # of the application's end: tells which processes hold it
    state: SocketState = SocketState.OPEN
    local: Address | None = None
    remote: Address | None = None
    bound: bool = False
    wanted: Address | None = None  # what bind(2) has asked for; port 0: the kernel's choice
    peer: SimulatedSocket | None = None
    flow: Direction | None = None
    error: int = 0
    backlog: int = 0
    pending: deque[SimulatedSocket] = field(default_factory=deque)
    tokens: int = 0  # bytes sent to the listening application and not yet taken back by an accept
    unannounced: int = 0  # tokens for which no actor was woken yet that waits by EPOLLEXCLUSIVE; at most `tokens`
    options: dict[tuple[int, int], bytes] = field(default_factory=dict)
    undelivered: bytearray = field(default_factory=bytearray)
    fin_due: bool = False  # the peer has finished; to be shown once `undelivered` is empty
    app_finished: bool = False  # the application sends no more
    heard_end: bool = False  # the peer's FIN has come
    finished_first: bool = False  # before the peer's FIN had come: its port goes into TIME_WAIT
    reads_no_more: bool = False  # the application has shut it down for reading
    late: bytearray = field(default_factory=bytearray)  # what has come since, which the pair does not take any more
    keeps_back: int = 0  # KEEPS_: why a piece that fills no segment waits for more
    kept_back: bytearray = field(default_factory=bytearray)
    kept_until: Event | None = None  # when `kept_back` is sent all the same
    was_dissolved: bool = False  # by connect(2) to AF_UNSPEC; its error does not keep it from connecting again
    app_closed: bool = False
    was_shut_down: bool = False  # in both directions: `end` reads as if closed, but the application's descriptor lives on
    vanished: bool = False  # its host lost power: nothing there knows of the socket any more
    heard_ns: int = 0  # when its peer's host last answered
    waits: bool = False  # in a blocking connect
    outcome: int | None = None  # of a connect, until an actor asks
    events: int = READ_EVENTS  # for which the server's epoll watches `end`
    is_urgent: bool = False  # the application has sent a byte with MSG_OOB, which has not been read yet
    bytes_read: int = 0  # since the beginning
    bytes_pushed: int = 0
    send_bytes: int = 0  # the buffer that the application has forced by SO_SNDBUFFORCE
    receive_bytes: int = 0  # by SO_RCVBUFFORCE
    fd_store: FdStore | None = None
    is_warm: bool = True  # used since the store last looked for sockets to store
    urgent: deque[int] = field(default_factory=deque)  # places of urgent bytes in the stream to the application

    def __repr__(self) -> str:
        return f"socket {self.number} of {self.host.name} ({self.local} -> {self.remote}, {self.state.value})"

    @property
    def end(self) -> socket.socket:
        """The server's end of the pair, fetched back if it is stored."""
        if self.held is None:
            assert self.fd_store is not None
            self.held = self.fd_store.fetch(self)
        self.is_warm = True
        return self.held

    @property
    def may_be_stored(self) -> bool:
        """Whether the server's end is open."""
        return not self.is_broken

    @property
    def storage_token(self) -> int:
        """The number under which the store keeps `end`, and by which the server's epoll reports it: see turn/readiness.py."""
        return self.number

    @property
    def watched_events(self) -> int:
        """What the server's epoll watches `end` for."""
        return self.events

    def socket_of(self, descriptor: int) -> socket.socket:
        """`end` for a descriptor that has come back from the store."""
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM if self.kind == "s" else socket.SOCK_SEQPACKET, 0, descriptor)
        end.setblocking(False)
        return end

    def hand_out(self) -> int:
        """The application's end, now the caller's to pass on and close."""
        assert self.app_end is not None
        app_end, self.app_end = self.app_end, None
        return app_end.detach()

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
        if not self.is_urgent or not _is_at_mark(self.end):
            return b""
        self.is_urgent = False
        if self.peer is not None:
            self.peer.urgent.append(self.bytes_read)
        return self.end.recv(1, socket.MSG_OOB)

    @property
    def is_broken(self) -> bool:
        """Whether the server's end is closed, though the application's may be open."""
        return self.held is not None and self.held.fileno() < 0

    def begin_anew(self) -> None:
        """Forget the connection that was: the socket is as if it had just been made, but for its options and its address."""
        self.state, self.remote, self.peer, self.flow = SocketState.OPEN, None, None, None
        self.tokens = self.unannounced = self.bytes_read = self.bytes_pushed = 0
        self.fin_due = self.app_finished = self.heard_end = self.finished_first = self.was_shut_down = self.is_urgent = False
        self.reads_no_more, self.outcome = False, None
        self.undelivered.clear()
        self.late.clear()
        self.urgent.clear()

    def drain(self) -> None:
        """Throw away the filler that makes a connecting socket not writable."""
        with contextlib.suppress(ConnectionResetError, BlockingIOError):
            while self.end.recv_into(_FILLER):
                pass

    def deliver(self, data: bytes) -> bool:
        """Give the application bytes; what does not fit waits. False if the application is gone."""
        if self.undelivered or self.urgent:
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
                sent = self._send_piece() if self.urgent else self.end.send(self.undelivered)
            except BlockingIOError:
                return True
            except (BrokenPipeError, ConnectionResetError):
                is_kept = self._keep_late(self.undelivered)
                self.undelivered.clear()
                return is_kept
            del self.undelivered[:sent]
            self.bytes_pushed += sent
        if self.fin_due:
            self.fin_due = False
            with contextlib.suppress(OSError):
                self.end.shutdown(socket.SHUT_WR)
        return True

    def _keep_late(self, data: bytes | bytearray) -> bool:
        """Keep what has come since the application shut the socket down for reading; False if there is nobody to take it."""
        is_kept = self.reads_no_more and not self.app_finished
        if is_kept:
            self.late += data
        return is_kept

    def _send_piece(self) -> int:
        """Send what comes before the next urgent byte, or that byte alone: urgent data keeps its place in the stream."""
        before = self.urgent[0] - self.bytes_pushed
        if before > 0:
            return self.end.send(self.undelivered[:before])
        sent = self.end.send(self.undelivered[:1], socket.MSG_OOB)
        self.urgent.popleft()
        return sent
