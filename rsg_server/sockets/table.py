"""All simulated sockets by number: makes them, handles events of the server's ends, and forgets them.

Each socket is an AF_UNIX pair: `end` is the server's end, `app_end` the application's. While `end` is open, the
server's epoll watches it. EPOLLHUP at `end` says that the application has closed its last descriptor. If
`end` is closed and the application's end may still be open, the socket is `silent`: no event reports that the
application closes a silent socket, so the server searches for closed silent sockets from time to time.
"""

from __future__ import annotations

import os
import select
import socket
from typing import TYPE_CHECKING, Protocol

from rsg_server.sockets.binding import Binding
from rsg_server.sockets.datagrams import Datagrams
from rsg_server.sockets.handshake import Handshake
from rsg_server.sockets.interfaces import InterfaceTable
from rsg_server.sockets.kinds.datagram import DatagramSocket, PingSocket, RawSocket, UdpSocket
from rsg_server.sockets.kinds.netlink import NetlinkSocket
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.multicast import Multicast
from rsg_server.sockets.netlink.diag import Diag
from rsg_server.sockets.netlink.netlink import Netlink
from rsg_server.sockets.netlink.routing import Routing
from rsg_server.sockets.pair import READ_EVENTS, SimulatedSocket, SocketState
from rsg_server.sockets.ports import Kind
from rsg_server.sockets.stream import Streams

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rsg_server.clock.timeline import Timeline
    from rsg_server.event_log import EventLog
    from rsg_server.fd_store.store import FdStore
    from rsg_server.platform.platform import Platform
    from rsg_server.process.actor import Actor
    from rsg_server.process.host_state import HostState
    from rsg_server.process.parking import Parking
    from rsg_server.shared import streams as shared
    from rsg_server.shared.clock import Clock
    from rsg_server.sockets.wire import Wire
    from rsg_server.warner import Warner

BYTES_EVENTS = select.EPOLLIN | select.EPOLLOUT
"""If the epoll reports only these events of an end, there are only bytes to take, no end of data."""
FIRST_SWEEP = 256
"""The number of silent sockets at which the server first searches for closed ones."""
LETTERS: dict[type[SimulatedSocket], str] = {
    StreamSocket: "s",
    UdpSocket: "d",
    PingSocket: "i",
    RawSocket: "r",
    NetlinkSocket: "n",
}
"""The letter in the name of a pair by which the shim knows the kind of the socket (csrc/shared/protocol.h)."""


def unix_inodes() -> set[int]:
    """Return the inodes of all AF_UNIX sockets that a process has open, or that are on their way to one (SCM_RIGHTS)."""
    with open("/proc/net/unix") as lines:
        next(lines)
        return {int(line.split()[6]) for line in lines}


class Readiness(Protocol):
    """The epoll by which the server watches its ends of the pairs (rsg_server.turn.readiness)."""

    def watch(self, descriptor: int, target: SimulatedSocket, events: int) -> None:
        """Begin to watch the descriptor of a socket."""

    def modify(self, descriptor: int, target: SimulatedSocket, events: int) -> None:
        """Change the events for which a descriptor is watched."""

    def unwatch(self, descriptor: int, target: SimulatedSocket) -> None:
        """Stop watching a descriptor; do nothing if it is not watched."""

    def changed(self) -> None:
        """Note that a descriptor may have become ready, so that the turn loop asks the kernel before it gives the next turn."""


class SocketTable:
    """Every socket that an application may still name by its number, with the parts that handle addresses, streams and
    handshakes.
    """

    def __init__(
        self,
        clock: Clock,
        timeline: Timeline,
        log: EventLog,
        *,
        epoch_ns: int,
        wire: Wire,
        platform: Platform,
        hosts: Mapping[str, HostState],
        readiness: Readiness,
        fd_store: FdStore,
        told: shared.Streams,
        parking: Parking,
        warner: Warner,
    ) -> None:
        self._readiness, self._fd_store = readiness, fd_store
        self._next = 1
        self._tag = f"{os.getpid():08x}"  # a part of the names of AF_UNIX pairs, which differs between two runs
        self.all: dict[int, SimulatedSocket] = {}
        self.silent: dict[int, None] = {}  # the numbers of silent sockets
        self._sweep_at = FIRST_SWEEP
        self.interfaces = InterfaceTable(platform)
        multicast = Multicast(self.interfaces, hosts, self)
        self.binding = Binding(clock, platform, hosts, multicast, self)
        self.streams = Streams(clock, timeline, log, wire, self, readiness, told)
        self.handshake = Handshake(clock, timeline, log, wire, self, readiness, told, parking, warner)
        self.datagrams = Datagrams(clock, epoch_ns, wire, multicast, self, readiness)
        self.netlink = Netlink(Routing(platform, self.interfaces), Diag(self, wire), self, readiness)

    def create(self, host: HostState, family: int, kind: type[Kind]) -> Kind:
        """Make a socket on a host, and return it. The caller gives its `app_end` to the application."""
        self._sweep()
        number = self._next
        end, app_end = self._pair(kind, number)
        self._next += 1
        made = kind(number, host, family, end, app_end, inode=os.fstat(app_end.fileno()).st_ino)
        self.all[number] = made
        made.fd_store = self._fd_store
        self._readiness.watch(end.fileno(), made, made.events)
        self._fd_store.check(end.fileno())
        return made

    def _pair(self, kind: type[SimulatedSocket], number: int) -> tuple[socket.socket, socket.socket]:
        """Return the server's end, whose name tells the shim about the socket (csrc/shared/protocol.h), and the
        application's end.
        """
        end, app_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM if kind is StreamSocket else socket.SOCK_SEQPACKET)
        end.setblocking(False)
        end.bind(f"\0simunix:{LETTERS[kind]}:{number:08x}:{self._tag}".encode())
        return end, app_end

    def discard_pair(self, which: StreamSocket) -> None:
        """Close the server's end of a TCP socket that gets a new pair. Bytes in the old pair are lost."""
        if not which.is_broken:
            self.streams.stop(which)
            which.end.close()
        self.binding.release(which)

    def renew(self, which: StreamSocket) -> None:
        """Make a new pair for a TCP socket that may connect again; its `app_end` is to replace the application's end."""
        which.held, which.app_end = self._pair(StreamSocket, which.number)
        which.inode = os.fstat(which.app_end.fileno()).st_ino
        which.events = READ_EVENTS
        self.silent.pop(which.number, None)
        self.binding.rejoin(which)
        self._readiness.watch(which.end.fileno(), which, which.events)

    def of(self, actor: Actor, number: int) -> SimulatedSocket | None:
        """Return the socket that an actor names; None for a socket of another host, whose number the actor cannot know."""
        found = self.all.get(number)
        return found if found is not None and found.host.machine is actor.process.host else None

    # Events

    def ready(self, which: SimulatedSocket, events: int) -> None:
        """Handle the events that the server's epoll reports for the server's end of a socket."""
        if isinstance(which, StreamSocket):
            if events & select.EPOLLOUT:
                self.streams.push(which)
            if events & select.EPOLLPRI:
                which.urgent.is_sent = True
        if events & (READ_EVENTS | select.EPOLLHUP | select.EPOLLERR):
            self._take(which, events)
        if events & select.EPOLLHUP and which.number in self.all:
            self.closed_by_application(which)

    def _take(self, which: SimulatedSocket, events: int) -> None:
        """Take the bytes, or datagrams, that the application has sent."""
        if isinstance(which, StreamSocket):
            self.streams.take(which, not events & ~BYTES_EVENTS and not which.urgent.is_sent)
        elif isinstance(which, DatagramSocket):
            self.datagrams.take(which, bool(events & select.EPOLLHUP))
        elif isinstance(which, NetlinkSocket):
            self.netlink.take(which)

    def set_events(self, which: SimulatedSocket) -> None:
        """Choose the epoll events of a socket: input, if the server can take more bytes; output, while bytes wait to be
        delivered to the application.
        """
        if which.number not in self.all or which.is_broken:
            return
        if isinstance(which, StreamSocket):
            takes = which.state is not SocketState.CONNECTING and self.streams.takes(which)
            events = (READ_EVENTS if takes else 0) | (select.EPOLLOUT if which.undelivered else 0)
        else:
            events = 0 if isinstance(which, DatagramSocket) and which.unsent is not None else READ_EVENTS
        if events != which.events:
            which.events = events
            self._readiness.modify(which.end.fileno(), which, events)
            self._readiness.changed()

    # Ends of sockets

    def is_abandoned(self, old: SimulatedSocket) -> bool:
        """Return whether the application has closed a socket, perhaps in this turn, in which the epoll was not read
        yet.
        """
        if old.is_broken:
            return True
        poller = select.poll()
        poller.register(old.end.fileno(), 0)
        if old.app_end is None and any(events & select.POLLHUP for _, events in poller.poll(0)):
            self.closed_by_application(old)
            return True
        return False

    def closed_by_application(self, which: SimulatedSocket) -> None:
        """Handle that the application has closed its last descriptor of a socket."""
        if which.app_closed:
            return
        which.app_closed = True
        self.binding.release(which)
        if isinstance(which, StreamSocket):
            if which.state is SocketState.LISTENING:
                self.handshake.refuse_pending(which)
            elif which.state is SocketState.CONNECTED:
                self.streams.closed(which)
        which.state = SocketState.CLOSED
        self.forget(which)

    def forget(self, which: SimulatedSocket) -> None:
        """Close the server's end and forget the socket; keep the socket's number if the application has only shut the
        socket down, and may still ask about it.
        """
        if not which.is_broken:
            self._readiness.unwatch(which.end.fileno(), which)
        which.end.close()
        if which.app_end is not None:
            which.app_end.close()
            which.app_end = None
        which.app_closed = True
        if which.was_shut_down:
            self.keep_silently(which)
        else:
            self.all.pop(which.number, None)
            self.silent.pop(which.number, None)

    def keep_silently(self, which: SimulatedSocket) -> None:
        """Keep a socket whose `end` is closed, because the application may have its own end open, and ask about the socket."""
        self.silent[which.number] = None

    def _sweep(self) -> None:
        """Forget the silent sockets that the application has closed.

        The method searches only when such sockets may be half of all silent sockets.
        """
        if len(self.silent) < self._sweep_at:
            return
        alive = unix_inodes()
        for number in [number for number in self.silent if self.all[number].inode not in alive]:
            del self.silent[number]
            del self.all[number]
        self._sweep_at = max(FIRST_SWEEP, 2 * len(self.silent))

    def lose_host(self, host: HostState) -> None:
        """Remove the sockets of a host that has lost power, in the order of their numbers, and free its ports."""
        for number in sorted(self.all):
            which = self.all.get(number)
            if which is not None and which.host.machine is host:
                self.vanish(which)
        self.binding.ports_of(host).clear()

    def vanish(self, which: SimulatedSocket) -> None:
        """Remove a socket whose host has lost power. The peer of the socket gets no packet."""
        which.vanished = True
        which.state = SocketState.CLOSED
        if isinstance(which, StreamSocket) and not which.is_broken:
            self.streams.stop(which)
        which.was_shut_down = False
        self.binding.release(which)
        self.forget(which)

    def close(self) -> None:
        """Close every descriptor, at the end of the run."""
        for which in list(self.all.values()):
            self.forget(which)
