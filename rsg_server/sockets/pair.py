"""A simulated socket: an AF_UNIX pair of which the server has one end, and the properties that all kinds of sockets share.

The application has the other end, as an ordinary descriptor. The server reads from `end` what the application writes,
and writes to `end` what reaches the socket. Properties of one kind of socket are in the classes of
rsg_server.sockets.kinds.
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
    """An IP address of 4 or 16 bytes in network order, and a port."""

    ip: bytes
    port: int

    @property
    def family(self) -> int:
        """The IP version of the address: 4 or 6."""
        return 4 if len(self.ip) == 4 else 6

    def __str__(self) -> str:
        text = socket.inet_ntop(socket.AF_INET if self.family == 4 else socket.AF_INET6, self.ip)
        return f"{text}:{self.port}" if self.family == 4 else f"[{text}]:{self.port}"


class SocketState(Enum):
    """The states of TCP that an application can tell apart. A datagram socket is OPEN, or CONNECTED if it has a peer."""

    OPEN = "open"
    LISTENING = "listening"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    CLOSED = "closed"


@dataclass(eq=False, slots=True)
class SimulatedSocket:
    """A socket of an emulated host. `app_end` is the application's end until it has been handed out."""

    number: int
    host: HostState
    family: int  # 4, 6, or 16 for netlink
    held: socket.socket | None  # the server's end, `end`; None while it is in the descriptor store
    app_end: socket.socket | None
    owner: Process | None = None  # the process to which the server gave the application's end
    inode: int = 0  # the inode of the application's end; by this inode the server finds the processes that have the end open
    state: SocketState = SocketState.OPEN
    local: Address | None = None
    remote: Address | None = None
    bound: bool = False
    wanted: Address | None = None  # the address and port that the program has chosen by bind(2); port 0: the kernel chooses
    error: int = 0  # the errno that SO_ERROR returns
    options: dict[tuple[int, int], bytes] = field(default_factory=dict)
    app_closed: bool = False
    # shut down in both directions: `end` reads as if closed, although the application's descriptor is open
    was_shut_down: bool = False
    vanished: bool = False  # the power of the socket's host was cut, so the host knows nothing of the socket any more
    events: int = READ_EVENTS  # the epoll events for which the server watches `end`
    fd_store: FdStore | None = None
    is_warm: bool = True  # `end` was used since the descriptor store last looked for sockets to store

    def __repr__(self) -> str:
        return f"socket {self.number} of {self.host.name} ({self.local} -> {self.remote}, {self.state.value})"

    @property
    def end(self) -> socket.socket:
        """The server's end of the pair. If it is in the descriptor store, it is taken back first."""
        if self.held is None:
            assert self.fd_store is not None
            self.held = self.fd_store.fetch(self)
        self.is_warm = True
        return self.held

    @property
    def may_be_stored(self) -> bool:
        """Whether the server's end is open, so that it may be put into the descriptor store."""
        return not self.is_broken

    @property
    def storage_token(self) -> int:
        """The number of `end` in the descriptor store, and in the reports of the server's epoll (turn/readiness.py)."""
        return self.number

    @property
    def watched_events(self) -> int:
        """The epoll events for which the server watches `end`."""
        return self.events

    def socket_of(self, descriptor: int) -> socket.socket:
        """Return a socket object for the descriptor of `end`, which has come back from the descriptor store."""
        end = socket.socket(socket.AF_UNIX, self.pair_type, 0, descriptor)
        end.setblocking(False)
        return end

    def hand_out(self) -> int:
        """Return the descriptor of the application's end, which the caller passes on and closes."""
        assert self.app_end is not None
        app_end, self.app_end = self.app_end, None
        return app_end.detach()

    @property
    def pair_type(self) -> int:
        """The type of the AF_UNIX pair: SOCK_SEQPACKET, which keeps messages apart."""
        return socket.SOCK_SEQPACKET

    @property
    def is_broken(self) -> bool:
        """Whether the server's end is closed. The application's end may be open."""
        return self.held is not None and self.held.fileno() < 0
