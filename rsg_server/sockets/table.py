"""All simulated sockets of an emulation: numbers, ports, and what happens when one becomes readable or closes."""

from __future__ import annotations

import errno
import os
import select
import socket
import zlib
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.network.sharing import WINDOW_BYTES
from rsg_server.protocol import Wait, Wake
from rsg_server.sockets import error_marking as broken_pair
from rsg_server.sockets import ports
from rsg_server.sockets.pair import READ_EVENTS, Address, SimulatedSocket, SocketState
from rsg_server.sockets.ports import ANY, LOOPBACK, MAPPED, SOL_SOCKET, is_loopback, plain

if TYPE_CHECKING:
    from rsg_server.kernel import Kernel
    from rsg_server.process.actor import Actor
    from rsg_server.process.host_state import HostState

FIRST_SWEEP = 256
TIME_WAIT_NS = 60 * 10**9
SO_LINGER = 13


def unix_inodes() -> set[int]:
    """Inodes of all AF_UNIX sockets that somebody has open, or that are under way to somebody."""
    with open("/proc/net/unix") as lines:
        next(lines)
        return {int(line.split()[6]) for line in lines}


class SocketTable:
    """Creates, binds, finds and ends simulated sockets; moves bytes between pairs and the network model."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._next = 1
        self._tag = f"{os.getpid():08x}"
        self.all: dict[int, SimulatedSocket] = {}
        self.silent: dict[int, None] = {}  # numbers of those whose end is closed here
        self._sweep_at = FIRST_SWEEP

    def create(self, host: HostState, family: int, kind: str) -> SimulatedSocket:
        """A new socket on a host; its `app_end` is to be handed to the application."""
        self._sweep()
        number = self._next
        end, app_end = self._pair(kind, number)
        self._next += 1
        made = SimulatedSocket(number, host, family, kind, end, app_end, inode=os.fstat(app_end.fileno()).st_ino)
        self.all[number] = made
        made.fd_store = self._kernel.fd_store
        self._kernel.readiness.watch(end.fileno(), made, made.events)
        self._kernel.fd_store.check(end.fileno())
        return made

    def _pair(self, kind: str, number: int) -> tuple[socket.socket, socket.socket]:
        end, app_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM if kind == "s" else socket.SOCK_SEQPACKET)
        end.setblocking(False)
        end.bind(f"\0simunix:{kind}:{number:08x}:{self._tag}".encode())
        return end, app_end

    def renew(self, which: SimulatedSocket) -> None:
        """A new pair for a stream whose connect has failed, and which tries again: `app_end` is to replace the old one."""
        which.held, which.app_end = self._pair(which.kind, which.number)
        which.inode = os.fstat(which.app_end.fileno()).st_ino
        which.events = READ_EVENTS
        self.silent.pop(which.number, None)
        if which.local is not None:
            which.host.ports.setdefault((which.kind, which.local.port), []).append(which)
        self._kernel.readiness.watch(which.end.fileno(), which, which.events)

    def _sweep(self) -> None:
        """Forget what the application has closed without our being told, whenever that may be half of all."""
        if len(self.silent) < self._sweep_at:
            return
        alive = unix_inodes()
        for number in [number for number in self.silent if self.all[number].inode not in alive]:
            del self.silent[number]
            del self.all[number]
        self._sweep_at = max(FIRST_SWEEP, 2 * len(self.silent))

    def _keep_silently(self, which: SimulatedSocket) -> None:
        """Our end is closed, but the application's may live on and be asked about: nothing will tell when it is closed."""
        self.silent[which.number] = None

    def of(self, actor: Actor, number: int) -> SimulatedSocket | None:
        """The socket that an actor names; None for another host's (it cannot have come by it)."""
        found = self.all.get(number)
        return found if found is not None and found.host is actor.process.host else None

    # Ports

    def bind(self, bound: SimulatedSocket, ip: bytes, port: int) -> int:
        """Give a socket its local address; 0 or an errno."""
        if bound.bound:
            return errno.EINVAL
        address = plain(ip)
        if not self._may_have(bound, address):
            return errno.EADDRNOTAVAIL
        if port == 0:
            port = bound.host.ephemeral_port(bound.kind)
        elif ports.is_in_time_wait(bound, port, self._kernel.now_ns) or any(
            not self.is_abandoned(other) and ports.conflict(bound, address, other)
            for other in list(bound.host.ports.get((bound.kind, port), ()))
        ):
            return errno.EADDRINUSE
        bound.local = Address(ip, port)
        bound.bound = True
        bound.host.ports.setdefault((bound.kind, port), []).append(bound)
        return 0

    def _may_have(self, bound: SimulatedSocket, address: bytes) -> bool:
        if address in (ANY[4], ANY[6]) or is_loopback(address) or self._is_own(bound.host, address):
            return True
        return bound.kind == "d" and self._kernel.datagrams.groups.is_many(bound.host, address)

    def _is_own(self, host: HostState, ip: bytes) -> bool:
        return self._kernel.platform.host_by_address(ip) is host.host

    def is_abandoned(self, old: SimulatedSocket) -> bool:
        """Closed within this very turn, so that the master epoll has not told yet?"""
        if old.is_broken:
            return True
        poller = select.poll()
        poller.register(old.end.fileno(), 0)
        if old.app_end is None and any(events & select.POLLHUP for _, events in poller.poll(0)):
            self.closed_by_application(old)
            return True
        return False

    def autobind(self, which: SimulatedSocket, towards: bytes) -> int:
        """Give an unbound socket a port and the address that it would use towards another; 0 or an errno."""
        own = self._own_address(which.host, towards)
        if own is None:
            return errno.ENETUNREACH
        if which.local is None:
            code = self.bind(which, ANY[which.family], 0)
            if code:
                return code
        assert which.local is not None
        if which.local.ip in ANY.values():
            which.local = Address(own if which.family == 4 or len(own) == 16 else MAPPED + own, which.local.port)
        return 0

    def source(self, which: SimulatedSocket, towards: bytes, own: bytes | None = None) -> Address | None:
        """Where a datagram comes from: the socket's own address, else the host's towards its target (or the one given)."""
        own = own or self._own_address(which.host, towards)
        if own is None or (which.local is None and self.bind(which, ANY[which.family], 0)):
            return None
        assert which.local is not None
        return Address(own, which.local.port) if which.local.ip in ANY.values() else which.local

    @staticmethod
    def _own_address(host: HostState, towards: bytes) -> bytes | None:
        if is_loopback(towards):
            return towards if len(towards) == 4 else LOOPBACK[6]
        for address in host.host.addresses:
            if len(address.packed) == len(towards):
                return address.packed
        return None

    def host_of(self, host: HostState, ip: bytes) -> HostState | None:
        """The host that an address means to somebody on `host`; None if nobody has it."""
        if is_loopback(ip) or ip in ANY.values():
            return host
        found = self._kernel.platform.host_by_address(ip)
        return self._kernel.hosts[found.name] if found is not None else None

    def find(self, host: HostState, kind: str, ip: bytes, port: int, source: Address | None = None) -> SimulatedSocket | None:
        """Who receives what is sent to (ip, port) on a host: the most closely bound socket, listening if a stream.

        Sockets that share a port by SO_REUSEPORT share the senders, each sender's to one of them.
        """
        found = [
            which
            for which in list(host.ports.get((kind, port), ()))
            if (kind == "d" or which.state is SocketState.LISTENING) and ports.hears(which, ip) and not self.is_abandoned(which)
        ]
        exact = [which for which in found if ports.local_ip(which) == ip]
        sharing = [which for which in exact or found if ports.flag(which, ports.SO_REUSEPORT)]
        if source is not None and len(sharing) > 1:
            return sharing[zlib.crc32(source.ip + source.port.to_bytes(2, "big")) % len(sharing)]
        if exact:
            return exact[-1]
        return found[0] if found else None

    # Readiness of our ends

    def ready(self, which: SimulatedSocket, events: int) -> None:
        """The master epoll says that something happened at our end of a pair."""
        if events & select.EPOLLOUT:
            if not which.push():
                self.reset(which.peer)
            self.set_events(which)
            if which.peer is not None:
                self.set_events(which.peer)
        if events & select.EPOLLPRI:
            which.is_urgent = True
        if events & (READ_EVENTS | select.EPOLLHUP | select.EPOLLERR):
            if which.kind == "d":
                self._kernel.datagrams.take(which, bool(events & select.EPOLLHUP))
            elif which.kind == "n":
                self._kernel.netlink.take(which)
            else:
                self._take_bytes(which)
        if events & select.EPOLLHUP and which.number in self.all:
            self.closed_by_application(which)

    def _take_bytes(self, which: SimulatedSocket) -> None:
        if which.state is SocketState.CONNECTING:
            return  # filler
        try:
            while self._window_left(which) > 0:
                data = which.read()
                if data is None:
                    break
                if not data:
                    self._finished(which)
                    break
                if which.flow is not None:
                    which.flow.send(data)
        except ConnectionResetError:
            self.reset(which.peer)
        self.set_events(which)

    @staticmethod
    def _window_left(which: SimulatedSocket) -> int:
        waiting = len(which.peer.undelivered) if which.peer is not None else 0
        if which.flow is None:
            return WINDOW_BYTES - waiting
        return max(which.flow.window_bytes, which.buffer_bytes) - waiting - which.flow.in_flight_bytes

    def _finished(self, which: SimulatedSocket) -> None:
        """The application sends no more: a FIN follows its last byte."""
        if which.app_finished:
            return
        which.app_finished = True
        peer = which.peer
        which.finished_first = peer is not None and not peer.app_finished
        if which.flow is not None and peer is not None:
            which.flow.finish(lambda: self._show_end(peer))

    def _show_end(self, which: SimulatedSocket) -> None:
        which.fin_due = True
        which.push()
        self._kernel.readiness.changed()

    def arrived(self, which: SimulatedSocket, data: bytes) -> None:
        """Bytes reach a connected socket through the network."""
        if which.state is SocketState.CLOSED and not which.app_closed:
            return  # reset meanwhile
        self._kernel.readiness.changed()
        if which.app_closed or not which.deliver(data):
            self.reset(which.peer)
        self.set_events(which)
        if which.peer is not None:
            self.set_events(which.peer)

    def set_events(self, which: SimulatedSocket) -> None:
        """Listen for what can be acted on: no input while the window is full, room while bytes wait."""
        if which.number not in self.all or which.is_broken:
            return
        events = 0
        if which.kind == "s":
            takes = not which.app_finished and self._window_left(which) > 0
        else:
            takes = not self._kernel.datagrams.holds(which)
        if takes:
            events |= READ_EVENTS
        if which.state is SocketState.CONNECTING:
            events = 0
        if which.undelivered:
            events |= select.EPOLLOUT
        if events != which.events:
            which.events = events
            self._kernel.readiness.modify(which.end.fileno(), which, events)
            self._kernel.readiness.changed()

    # Ends

    def reset(self, which: SimulatedSocket | None) -> None:
        """The other side answers with RST: the application meets ECONNRESET, later EPIPE."""
        if which is None or which.state is SocketState.CLOSED:
            return
        peer = which.peer
        arrive = partial(self.abort, which, errno.ECONNRESET)
        if peer is None:
            arrive()
        elif peer.flow is not None and not peer.flow.is_cancelled:
            peer.flow.abandon(arrive)  # behind what was sent before
        else:
            now_ns = self._kernel.now_ns
            self._kernel.wire.packet(peer.host, which.host, arrive, frames=lambda capture: capture.reset(peer, now_ns))

    def abort(self, which: SimulatedSocket, code: int) -> None:
        """A connection is lost (ECONNRESET, ETIMEDOUT): its application meets the error."""
        if which.number in self.all and which.state is not SocketState.CLOSED:
            if code != errno.ECONNRESET:
                error = errno.errorcode.get(code, str(code))
                fields = {"source": str(which.local), "destination": str(which.remote), "error": error}
                self._kernel.log.event(self._kernel.now_ns, "connection_lost", host=which.host.name, **fields)
                which.error = code
            which.state = SocketState.CLOSED
            if not self._break(which):
                which.error = code

    def connect_failed(self, which: SimulatedSocket, code: int) -> None:
        """Nobody waits in connect: `poll` tells that there is an error, and SO_ERROR which."""
        which.error = code
        self._break(which)

    def _break(self, which: SimulatedSocket) -> bool:
        """The application's end shows an error from now on; False if only we know of it."""
        self._kernel.readiness.changed()
        self._stop(which)
        self._release_port(which)
        self._keep_silently(which)
        return broken_pair.fail(self._kernel, which)

    def _stop(self, which: SimulatedSocket) -> None:
        self._kernel.readiness.unwatch(which.end.fileno(), which)
        if which.flow is not None:
            which.flow.cancel()
            which.flow = None
        which.undelivered.clear()

    def closed_by_application(self, which: SimulatedSocket) -> None:
        """The last descriptor of the application's end is gone."""
        if which.app_closed:
            return
        which.app_closed = True
        self._release_port(which)
        if which.state is SocketState.LISTENING:
            for waiting in which.pending:
                self.reset(waiting.peer)
                self._forget(waiting)
            which.pending.clear()
        if which.state is SocketState.CONNECTED and which.kind == "s":
            if which.options.get((SOL_SOCKET, SO_LINGER), b"")[:8] == b"\x01\0\0\0\0\0\0\0":
                self._take_sent(which)
                self.reset(which.peer)
            else:
                self._take_rest(which)
                if which.finished_first and which.local is not None:
                    reusable = ports.flag(which, ports.SO_REUSEADDR)
                    which.host.time_wait[which.local.port] = (self._kernel.now_ns + TIME_WAIT_NS, reusable)
        which.state = SocketState.CLOSED
        self._forget(which)

    def _take_rest(self, which: SimulatedSocket) -> None:
        """Everything that was written before the close still travels, whatever the window."""
        if self._take_sent(which):
            self._finished(which)
        else:
            self.reset(which.peer)

    @staticmethod
    def _take_sent(which: SimulatedSocket) -> bool:
        """Send on what the application has written; False if it closed with data unread."""
        try:
            while data := which.read():
                if which.flow is not None:
                    which.flow.send(data)
        except ConnectionResetError:
            return False
        return True

    def _forget(self, which: SimulatedSocket) -> None:
        if not which.is_broken:
            self._kernel.readiness.unwatch(which.end.fileno(), which)
        which.end.close()
        if which.app_end is not None:
            which.app_end.close()
            which.app_end = None
        which.app_closed = True
        if which.was_shut_down:
            self._keep_silently(which)
        else:
            self.all.pop(which.number, None)
            self.silent.pop(which.number, None)

    def vanish(self, which: SimulatedSocket) -> None:
        """Its host has lost power: nothing of it is left, and nobody is told."""
        which.vanished = True
        which.state = SocketState.CLOSED
        if not which.is_broken:
            self._stop(which)
        which.was_shut_down = False
        self._release_port(which)
        self._forget(which)

    def _release_port(self, which: SimulatedSocket) -> None:
        if which.local is None:
            return
        key = (which.kind, which.local.port)
        owners = which.host.ports.get(key, [])
        if which in owners:
            owners.remove(which)
            if not owners:
                del which.host.ports[key]

    def connect_outcome(self, actor: Actor, number: int) -> int | None:
        """The result of a connect that has ended (0 or -errno), None while it is under way."""
        which = self.of(actor, number)
        if which is None:
            return -errno.EBADF
        outcome, which.outcome = which.outcome, None
        return outcome

    def tell_connect(self, which: SimulatedSocket, outcome: int) -> None:
        """A connect has ended: whoever waits for it goes on."""
        which.outcome = outcome
        for process in which.host.processes.values():
            for actor in process.actors:
                parked = actor.parked
                waits = parked is not None and parked.wait == Wait.CONNECT and parked.a == which.number
                if waits and self._kernel.wake(actor, Wake.READY, outcome):
                    which.outcome = None

    def close(self) -> None:
        """Release every descriptor."""
        for which in list(self.all.values()):
            self._forget(which)
