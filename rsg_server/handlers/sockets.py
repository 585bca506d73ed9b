"""Handles requests about internet and netlink sockets. For the real kernel, these sockets are pairs of AF_UNIX sockets."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.protocol import STREAM_LISTENS, Op
from rsg_server.sockets import multicast, options
from rsg_server.sockets.kinds.datagram import ICMP_OF, DatagramSocket, PingSocket, RawSocket, UdpSocket
from rsg_server.sockets.kinds.netlink import NetlinkSocket
from rsg_server.sockets.kinds.stream import KEEPS_CORK, KEEPS_MORE, StreamSocket
from rsg_server.sockets.network_namespaces import network_of
from rsg_server.sockets.pair import Address, SimulatedSocket, SocketState
from rsg_server.sockets.ports import ANY, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from rsg_server.event_log import EventLog
    from rsg_server.process.actor import Actor
    from rsg_server.shared.clock import Clock
    from rsg_server.shared.streams import Streams
    from rsg_server.sockets.datagrams import Datagrams
    from rsg_server.sockets.keepalive import Keepalive
    from rsg_server.sockets.netlink.netlink import Netlink
    from rsg_server.sockets.table import SocketTable

SOCK_STREAM, SOCK_DGRAM = 1, 2
SHUT_RD, SHUT_WR, SHUT_RDWR = 0, 1, 2
UDP_LITE = 136
MOST_WAITING, UNSIGNED = 4096, 0xFFFFFFFF
"""The most connections that wait for accept(2) (net.core.somaxconn), and the mask for a negative backlog, as in Linux."""
AF_NETLINK, SOCK_RAW = 16, 3
PROTOCOLS = {SOCK_STREAM: (0, 6), SOCK_DGRAM: (0, 17, UDP_LITE), SOCK_RAW: ()}
NETLINK_PROTOCOLS = (0, 4, 15)
"""NETLINK_ROUTE and NETLINK_SOCK_DIAG, which are answered; NETLINK_KOBJECT_UEVENT, which is silent: no device changes."""


def _on_socket(
    sockets: SocketTable, run: Callable[[SimulatedSocket, Sequence[Any]], Reply]
) -> Callable[[Actor, Sequence[Any]], Reply]:
    """Return a message handler for a function about a socket; the first argument of its message is the socket's number."""

    def handler(actor: Actor, arguments: Sequence[Any]) -> Reply:
        found = sockets.of(actor, arguments[0])
        return failed(errno.EBADF) if found is None else run(found, arguments[1:])

    return handler


def _on_stream(
    sockets: SocketTable, run: Callable[[StreamSocket, Sequence[Any]], Reply], otherwise: Reply
) -> Callable[[Actor, Sequence[Any]], Reply]:
    """Return a message handler for a function about a TCP socket; for other kinds of sockets the reply is `otherwise`."""

    def handler(actor: Actor, arguments: Sequence[Any]) -> Reply:
        found = sockets.of(actor, arguments[0])
        if found is None:
            return failed(errno.EBADF)
        return run(found, arguments[1:]) if isinstance(found, StreamSocket) else otherwise

    return handler


def _status(code: int) -> Reply:
    return OK if code == 0 else failed(code)


def _wrong_address(which: SimulatedSocket, family: int, ip: bytes, port: int) -> int:
    """Return the errno for an address that the socket cannot have; 0 if it can."""
    if family != which.family:
        return errno.EAFNOSUPPORT
    return 0 if len(ip) == (4 if family == 4 else 16) and 0 <= port < 1 << 16 else errno.EINVAL


class SocketHandlers:
    """Handles SOCKET, BIND, CONNECT and the other calls about sockets.

    `streams` tells the shims what each stream socket may do without the server.
    """

    def __init__(
        self, sockets: SocketTable, datagrams: Datagrams, netlink: Netlink, streams: Streams, clock: Clock, log: EventLog
    ) -> None:
        self._sockets, self._datagrams, self._netlink, self._streams, self._clock, self._log = (
            sockets,
            datagrams,
            netlink,
            streams,
            clock,
            log,
        )

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.SOCKET: self.create,
                Op.BIND: self.bind_any,
                Op.LISTEN: _on_stream(self._sockets, self.listen, failed(errno.EOPNOTSUPP)),
                Op.CONNECT: _on_socket(self._sockets, self.connect),
                Op.ACCEPT: self.accept,
                Op.SOCKNAME: _on_socket(self._sockets, self.socket_name),
                Op.PEERNAME: _on_socket(self._sockets, self.peer_name),
                Op.SHUTDOWN: _on_socket(self._sockets, self.shutdown),
                Op.CONNECTED: _on_socket(self._sockets, self.connected),
                Op.MAY_SEND: _on_socket(self._sockets, self.may_send),
                Op.LATE: _on_stream(self._sockets, self.late, Reply((0, b""))),
            },
            makes_descriptors=(Op.SOCKET, Op.CONNECT),
        )

    def create(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Make a socket; the server keeps one end of its pair: [family, type, protocol] -> [socket's number] + descriptor."""
        family, kind, protocol = arguments
        if family == AF_NETLINK:
            return self._create_netlink(actor, kind, protocol)
        if family not in (4, 6):
            return failed(errno.EAFNOSUPPORT)
        if kind not in PROTOCOLS:
            return failed(errno.ESOCKTNOSUPPORT)
        if protocol == ICMP_OF[family] and kind != SOCK_STREAM:
            return self._create_icmp(actor, family, kind)
        if protocol not in PROTOCOLS[kind]:
            return failed(errno.EPERM if kind == SOCK_RAW else errno.EPROTONOSUPPORT)
        made = self._sockets.create(network_of(actor), family, StreamSocket if kind == SOCK_STREAM else UdpSocket)
        made.owner = actor.process
        return Reply((made.number,), fds=(made.hand_out(),))

    def _create_icmp(self, actor: Actor, family: int, kind: int) -> Reply:
        """Make a ping socket (icmp(7)), or a raw socket for ICMP. The port number of a raw socket is its protocol."""
        made = self._sockets.create(network_of(actor), family, PingSocket if kind == SOCK_DGRAM else RawSocket)
        made.owner = actor.process
        if isinstance(made, RawSocket):
            made.local = Address(ANY[family], made.protocol)
            self._sockets.binding.ports_of(made.host).add(made)
        return Reply((made.number,), fds=(made.hand_out(),))

    def _create_netlink(self, actor: Actor, kind: int, protocol: int) -> Reply:
        if kind not in (SOCK_DGRAM, SOCK_RAW):
            return failed(errno.ESOCKTNOSUPPORT)
        if protocol not in NETLINK_PROTOCOLS:
            return failed(errno.EPROTONOSUPPORT)
        made = self._sockets.create(network_of(actor), AF_NETLINK, NetlinkSocket)
        made.type, made.protocol = kind, protocol
        return Reply((made.number,), fds=(made.hand_out(),))

    def bind(self, which: SimulatedSocket, arguments: Sequence[Any]) -> Reply:
        """Bind a socket to an address: [family, IP address as bytes, port, lowest port that the caller may have] -> [0]."""
        family, ip, port, least = arguments
        wrong = _wrong_address(which, family, ip, port)
        if wrong:
            return failed(wrong)
        code = self._sockets.binding.bind_as_wanted(which, ip, port, least)
        if code == errno.EADDRINUSE:
            self._log.event(self._clock.now_ns, "address_in_use", host=which.host.name, port=port)
        return _status(code)

    def bind_any(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Bind a socket: [socket's number, and the arguments of `bind`] -> [0]. Netlink: port 0 is the pid (netlink(7))."""
        found = self._sockets.of(actor, arguments[0])
        if found is None:
            return failed(errno.EBADF)
        if not isinstance(found, NetlinkSocket):
            return self.bind(found, arguments[1:])
        if arguments[1] != AF_NETLINK:
            return failed(errno.EINVAL)
        return _status(self._netlink.bind(found, actor.process.pid, arguments[3]))

    def listen(self, which: StreamSocket, arguments: Sequence[Any]) -> Reply:
        """Let a TCP socket listen: [backlog] -> [0]."""
        if which.state not in (SocketState.OPEN, SocketState.LISTENING):
            return failed(errno.EINVAL)
        if which.local is None or not which.bound:
            self._sockets.binding.bind(which, ANY[which.family], 0)
        which.queue.backlog = min(int(arguments[0]) & UNSIGNED, MOST_WAITING)
        which.state = SocketState.LISTENING
        self._streams.tell(which.number, STREAM_LISTENS)
        assert which.local is not None
        self._log.event(self._clock.now_ns, "listen", host=which.host.name, port=which.local.port)
        return OK

    def connect(self, which: SimulatedSocket, arguments: Sequence[Any]) -> Reply:
        """Connect a socket to an address.

        [family, IP address as bytes, port, 1 if the caller waits] -> [0, -EINPROGRESS or -errno; 1 if this is the
        outcome] + a new descriptor, in place of one whose connection has failed. Family 0 removes the peer.
        """
        family, ip, port, waits = arguments
        if family == 0:
            return self._disconnect(which)
        wrong = _wrong_address(which, family, ip, port)
        if wrong:
            return failed(wrong)
        target = Address(ip, port)
        if isinstance(which, StreamSocket):
            code = self._sockets.handshake.connect(which, target, bool(waits))
            renewed = () if which.app_end is None else (which.hand_out(),)
            return Reply((-code, int(which.state is not SocketState.CONNECTING)), fds=renewed)
        address = plain(target.ip)
        if self._datagrams.multicast.is_many(which.host, address):
            return self._connect_to_many(which, target)
        if self._sockets.binding.host_of(which.host, address) is None:
            return failed(errno.ENETUNREACH)
        code = self._sockets.binding.autobind(which, address)
        if code == 0:
            which.remote, which.state = target, SocketState.CONNECTED
        return _status(code)

    def _disconnect(self, which: SimulatedSocket) -> Reply:
        """Make a socket forget its peer, as connect(2) with AF_UNSPEC does."""
        if isinstance(which, StreamSocket):
            self._sockets.handshake.dissolve(which)
            return Reply((0, 1), fds=() if which.app_end is None else (which.hand_out(),))
        which.remote, which.state = None, SocketState.OPEN
        if isinstance(which, UdpSocket):
            self._sockets.binding.loosen(which)
        return OK

    def _connect_to_many(self, which: SimulatedSocket, target: Address) -> Reply:
        """Connect a datagram socket to a broadcast or multicast address."""
        address = plain(target.ip)
        code = self._datagrams.multicast.may_send(which, address)
        if code:
            return failed(code)
        source = self._sockets.binding.source(which, address, self._datagrams.multicast.source(which, address))
        if source is None:
            return failed(errno.EADDRNOTAVAIL)
        which.local, which.remote, which.state = source, target, SocketState.CONNECTED
        return OK

    def may_send(self, which: SimulatedSocket, arguments: Sequence[Any]) -> Reply:
        """Say whether a datagram may go to an address, perhaps a multicast one: [family, IP as bytes] -> [0 or -errno]."""
        family, ip = arguments
        if _wrong_address(which, family, ip, 0):
            return OK  # the later call that sends the datagram reports a wrong address
        known = self._datagrams.multicast
        return _status(known.may_send(which, plain(ip)) if known.is_many(which.host, plain(ip)) else 0)

    def accept(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Accept a connection: [listening socket's number] -> [new number, peer's family, IP as bytes, port] + descriptor."""
        which = self._sockets.of(actor, arguments[0])
        if which is None:
            return failed(errno.EBADF)
        if not isinstance(which, StreamSocket):
            return failed(errno.EINVAL)
        accepted = self._sockets.handshake.accept(which)
        if isinstance(accepted, int):
            return failed(accepted)
        served, fd = accepted
        served.owner = actor.process
        assert served.remote is not None
        return Reply((served.number, served.remote.family, served.remote.ip, served.remote.port), fds=(fd,))

    def socket_name(self, which: SimulatedSocket, arguments: Sequence[Any]) -> Reply:
        """Return the address of a socket: [] -> [0, family, IP address as bytes, port]."""
        if isinstance(which, NetlinkSocket):
            return Reply((0, AF_NETLINK, b"", which.port))
        local = which.local or Address(ANY[which.family], 0)
        return Reply((0, local.family, local.ip, local.port))

    def peer_name(self, which: SimulatedSocket, arguments: Sequence[Any]) -> Reply:
        """Return the address of a socket's peer: [] -> [0, family, IP address as bytes, port]."""
        if isinstance(which, NetlinkSocket):  # the peer is the kernel, whose port is 0
            return Reply((0, AF_NETLINK, b"", 0))
        if which.state is not SocketState.CONNECTED or which.remote is None:
            return failed(errno.ENOTCONN)
        return Reply((0, which.remote.family, which.remote.ip, which.remote.port))

    def connected(self, which: SimulatedSocket, arguments: Sequence[Any]) -> Reply:
        """Say whether a socket is connected: [] -> [0] if so, [1] while it connects, -ENOTCONN for TCP without a peer."""
        if isinstance(which, StreamSocket) and which.state in (SocketState.OPEN, SocketState.LISTENING):
            return failed(errno.ENOTCONN)
        return Reply((int(which.state is SocketState.CONNECTING),))

    def shutdown(self, which: SimulatedSocket, arguments: Sequence[Any]) -> Reply:
        """Shut a socket down for reading, writing or both.

        [how, as in shutdown(2)] -> [0]: the shim must then shut down its end of the AF_UNIX pair, which tells the
        server that the data ends. [1]: the socket was connecting, and has given that up; the shim leaves its end of the
        pair open.
        """
        if not 0 <= arguments[0] <= SHUT_RDWR:
            return failed(errno.EINVAL)
        if isinstance(which, StreamSocket):
            return self._shut_stream(which, arguments[0])
        if which.state is not SocketState.CONNECTED:
            return failed(errno.ENOTCONN)
        which.was_shut_down = arguments[0] == SHUT_RDWR
        return OK

    def _shut_stream(self, which: StreamSocket, how: int) -> Reply:
        """Shut down a connection, an attempt to connect, or a listening socket, which does not listen any more then."""
        if which.state is SocketState.CONNECTING:
            self._sockets.handshake.give_up(which)
            return Reply((1,))
        if which.state not in (SocketState.CONNECTED, SocketState.LISTENING):
            return failed(errno.ENOTCONN)
        which.was_shut_down = how == SHUT_RDWR
        if which.state is SocketState.CONNECTED and how == SHUT_RD:
            which.fin.reads_no_more = True
            self._sockets.streams.tell(which)
        if which.state is SocketState.LISTENING and how != SHUT_WR:
            self._sockets.handshake.refuse_pending(which)
            which.state = SocketState.OPEN
        return OK

    def late(self, which: StreamSocket, arguments: Sequence[Any]) -> Reply:
        """Return bytes that came after shutdown(2) for reading: [most bytes, 1 to leave them there] -> [0, bytes]."""
        most, leaves_it = arguments
        return Reply((0, self._sockets.streams.take_late(which, max(0, most), bool(leaves_it))))


class OptionHandlers:
    """Handles SOCKET_GET, SOCKET_SET and MORE: options of sockets, and bytes that are held back."""

    def __init__(
        self,
        sockets: SocketTable,
        datagrams: Datagrams,
        keepalive: Keepalive,
        get: Callable[[SimulatedSocket, options.Key], bytes | int],
        put: Callable[[SimulatedSocket, options.Key, bytes], int],
        warn: Callable[[str], None],
    ) -> None:
        self._sockets, self._datagrams, self._keepalive, self._warn = sockets, datagrams, keepalive, warn
        self._get, self._put = get, put

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.MORE: _on_socket(self._sockets, self.more),
                Op.SOCKET_GET: _on_socket(self._sockets, self.get_option),
                Op.SOCKET_SET: _on_socket(self._sockets, self.set_option),
            }
        )

    def get_option(self, which: SimulatedSocket, arguments: Sequence[Any]) -> Reply:
        """Read a socket option: [level, option] -> [0, value as bytes]."""
        level, option = arguments
        found = self._get(which, (level, option))
        return failed(found) if isinstance(found, int) else Reply((0, found))

    def set_option(self, which: SimulatedSocket, arguments: Sequence[Any]) -> Reply:
        """Set a socket option. The value of each known option is stored; it has an effect if the server models the option.

        [level, option, value as bytes] -> [0].
        """
        level, option, value = arguments
        if level in options.levels_of(which) and not isinstance(which, NetlinkSocket):
            if (level, option) in multicast.SOURCE_FILTERS:
                self._warn(f"{which.host.name}: a multicast source filter (socket option {option}) was refused: not modelled")
                return failed(errno.ENOPROTOOPT)
            if (level, option) in multicast.JOINS:
                return _status(self._datagrams.multicast.change(which, level, option, value))
        if (level, option) == options.UDP_CORK and isinstance(which, UdpSocket):
            self._datagrams.take(which)
        code = self._put(which, (level, option), value)
        if code == 0 and (level, option) in (options.TCP_CORK, options.UDP_CORK):
            self._cork(which, (level, option))
        self._keepalive.consider(which)
        return _status(code)

    def _cork(self, which: SimulatedSocket, key: tuple[int, int]) -> None:
        """Apply a change of TCP_CORK or UDP_CORK. When the option is cleared, the bytes that were held back are sent."""
        is_on = any(which.options[key])
        if isinstance(which, StreamSocket):
            self._sockets.streams.keep_back(which, KEEPS_CORK, is_on)
        elif isinstance(which, DatagramSocket) and not is_on:
            self._datagrams.finish(which)

    def more(self, which: SimulatedSocket, arguments: Sequence[Any]) -> Reply:
        """Note whether the next bytes of a socket are sent together with later ones (MSG_MORE).

        [1 if together, 0 if not, -1 to ask] -> [0]; [1] if a datagram has been begun.
        """
        if isinstance(which, StreamSocket):
            if arguments[0] >= 0:
                self._sockets.streams.keep_back(which, KEEPS_MORE, bool(arguments[0]))
            return OK
        return Reply((int(isinstance(which, DatagramSocket) and self._datagrams.has_begun(which)),))
