"""A simulated socket: an AF_UNIX pair of which the server holds one end, and what all kinds of sockets have.

The application holds the other end, as an ordinary descriptor: what it writes is read from `end`, what reaches the socket is
written to `end`. What only one kind of socket has is in the classes of rsg_server.sockets.kinds.
"""

from __future__ import annotations

import select
import socket
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from rsg_server.process.host_state import HostState

if TYPE_CHECKING:
    from rsg_server.fd_store.store import FdStore
    from rsg_server.process.process import Process

READ_EVENTS = select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLPRI


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
    held: socket.socket | None  # `end`; None while the descriptor store has it
    app_end: socket.socket | None
    owner: Process | None = None  # the process that the server gave the application's end to
    inode: int = 0  # of the application's end: tells which processes hold it
    state: SocketState = SocketState.OPEN
    local: Address | None = None
    remote: Address | None = None
    bound: bool = False
    wanted: Address | None = None  # what bind(2) has asked for; port 0: the kernel's choice
    error: int = 0  # as SO_ERROR tells it
    options: dict[tuple[int, int], bytes] = field(default_factory=dict)
    app_closed: bool = False
    was_shut_down: bool = False  # in both directions: `end` reads as if closed, but the application's descriptor lives on
    vanished: bool = False  # its host lost power: nothing there knows of the socket any more
    events: int = READ_EVENTS  # for which the server's epoll watches `end`
    fd_store: FdStore | None = None
    is_warm: bool = True  # used since the store last looked for sockets to store

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
        end = socket.socket(socket.AF_UNIX, self.pair_type, 0, descriptor)
        end.setblocking(False)
        return end

    def hand_out(self) -> int:
        """The application's end, now the caller's to pass on and close."""
        assert self.app_end is not None
        app_end, self.app_end = self.app_end, None
        return app_end.detach()

    @property
    def pair_type(self) -> int:
        """The type of the AF_UNIX pair, which keeps one message apart from the next."""
        return socket.SOCK_SEQPACKET

    @property
    def is_broken(self) -> bool:
        """Whether the server's end is closed, though the application's may be open."""
        return self.held is not None and self.held.fileno() < 0
