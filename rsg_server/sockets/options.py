"""The options of internet sockets: which exist, their values before they are set, and the values that they may have.

Most options are only stored and returned: simunix has no Nagle algorithm, for example, that TCP_NODELAY could switch
off. Options with an effect are read from `SimulatedSocket.options` by the code that has the effect: ports.py,
multicast.py, datagram_header.py, datagrams.py, keepalive.py, retransmission.py, stream.py. A key is (level, option) as
in setsockopt(2).
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rsg_server.sockets.kinds.datagram import IcmpSocket, PingSocket, RawSocket, UdpSocket
from rsg_server.sockets.kinds.netlink import NetlinkSocket
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import Address, SimulatedSocket, SocketState
from rsg_server.sockets.ports import is_loopback, plain

if TYPE_CHECKING:
    from rsg_server.sockets.datagrams import Datagrams
    from rsg_server.sockets.interfaces import InterfaceTable
    from rsg_server.sockets.wire import Wire

SOL_SOCKET, SOL_IP, SOL_TCP, SOL_UDP, SOL_IPV6, SOL_UDPLITE, SOL_NETLINK = 1, 0, 6, 17, 41, 136, 270
SOL_RAW, SOL_ICMPV6 = 255, 58
Key = tuple[int, int]
ALGORITHMS = (b"cubic", b"reno")
MSS = {True: 65483, False: 1448}
MTU = {True: 65535, False: 1500}
"""The MTU, by whether the peer is reached over the loopback interface."""
STATES = {
    SocketState.CONNECTED: 1,
    SocketState.CONNECTING: 2,
    SocketState.OPEN: 7,
    SocketState.CLOSED: 7,
    SocketState.LISTENING: 10,
}
"""The numbers of states in TCP_INFO: TCP_ESTABLISHED, TCP_SYN_SENT, TCP_CLOSE, TCP_CLOSE, TCP_LISTEN."""
FIN_WAIT2 = 5
"""The state in TCP_INFO of a connected socket whose application has sent its FIN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """An option that is a number: its initial value, and its range. `is_flag` turns any value but 0 into 1."""

    unset: int = 0
    least: int = -(1 << 31)
    most: int = (1 << 31) - 1
    is_flag: bool = False


def _flags(level: int, *options: int) -> dict[Key, Number]:
    return {(level, option): Number(is_flag=True) for option in options}


NUMBERS: dict[Key, Number] = {
    **_flags(SOL_SOCKET, 2, 6, 9, 15),  # SO_REUSEADDR, SO_BROADCAST, SO_KEEPALIVE, SO_REUSEPORT
    **_flags(SOL_SOCKET, 29, 35, 63, 64),  # SO_TIMESTAMP and SO_TIMESTAMPNS, old and new form
    (SOL_SOCKET, 37): Number(),  # SO_TIMESTAMPING, and its newer form
    (SOL_SOCKET, 65): Number(),
    (SOL_SOCKET, 49): Number(unset=-1),  # SO_INCOMING_CPU
    **_flags(SOL_TCP, 1, 3),  # TCP_NODELAY, TCP_CORK
    **_flags(SOL_UDP, 1),  # UDP_CORK
    (SOL_TCP, 4): Number(unset=7200, least=1, most=32767),  # TCP_KEEPIDLE
    (SOL_TCP, 5): Number(unset=75, least=1, most=32767),  # TCP_KEEPINTVL
    (SOL_TCP, 6): Number(unset=9, least=1, most=127),  # TCP_KEEPCNT
    (SOL_TCP, 7): Number(unset=6, least=1, most=127),  # TCP_SYNCNT
    (SOL_TCP, 8): Number(unset=60),  # TCP_LINGER2
    (SOL_TCP, 12): Number(unset=1, is_flag=True),  # TCP_QUICKACK
    (SOL_TCP, 18): Number(least=0),  # TCP_USER_TIMEOUT
    **_flags(SOL_IP, 6, 7, 8, 12, 13),  # IP_RECVOPTS, IP_RETOPTS, IP_PKTINFO, IP_RECVTTL, IP_RECVTOS
    **_flags(SOL_IP, 15, 19, 20),  # IP_FREEBIND, IP_TRANSPARENT, IP_RECVORIGDSTADDR
    (SOL_IP, 1): Number(least=0, most=255),  # IP_TOS
    (SOL_IP, 2): Number(unset=64, least=-1, most=255),  # IP_TTL
    (SOL_IP, 10): Number(unset=1, least=0, most=5),  # IP_MTU_DISCOVER
    (SOL_IP, 33): Number(unset=1, least=-1, most=255),  # IP_MULTICAST_TTL
    (SOL_IP, 34): Number(unset=1, is_flag=True),  # IP_MULTICAST_LOOP
    (SOL_IP, 49): Number(unset=1, least=0, most=1),  # IP_MULTICAST_ALL
    **_flags(SOL_IPV6, 26, 49, 51, 53, 56, 58, 60, 66),  # IPV6_V6ONLY, and seven IPV6_RECV options
    (SOL_IPV6, 16): Number(unset=64, least=-1, most=255),  # IPV6_UNICAST_HOPS
    (SOL_IPV6, 18): Number(unset=1, least=-1, most=255),  # IPV6_MULTICAST_HOPS
    (SOL_IPV6, 19): Number(unset=1, least=0, most=1),  # IPV6_MULTICAST_LOOP
    (SOL_IPV6, 23): Number(unset=1, least=0, most=5),  # IPV6_MTU_DISCOVER
    (SOL_IPV6, 29): Number(unset=1, least=0, most=1),  # IPV6_MULTICAST_ALL
    (SOL_IPV6, 67): Number(least=-1, most=255),  # IPV6_TCLASS
    (SOL_RAW, 7): Number(unset=-1),  # IPV6_CHECKSUM
}
BYTES: dict[Key, bytes] = {
    (SOL_SOCKET, 13): bytes(8),  # SO_LINGER
    (SOL_IP, 4): b"",  # IP_OPTIONS, and the IPv6 headers: sshd refuses peers that set these
    (SOL_IP, 32): bytes(4),  # IP_MULTICAST_IF
    (SOL_IPV6, 54): b"",
    (SOL_IPV6, 55): b"",
    (SOL_IPV6, 57): b"",
    (SOL_IPV6, 59): b"",
    (SOL_TCP, 13): b"cubic".ljust(16, b"\0"),  # TCP_CONGESTION
    (SOL_SOCKET, 25): b"",  # SO_BINDTODEVICE
    (SOL_RAW, 1): bytes(4),  # ICMP_FILTER
    (SOL_ICMPV6, 1): bytes(32),  # ICMPV6_FILTER
}
"""The options that are no numbers, with their initial values."""
REFUSED: dict[Key, int] = {
    (SOL_SOCKET, 16): errno.EOPNOTSUPP,  # SO_PASSCRED, SO_PASSSEC, SO_PASSPIDFD, which are for AF_UNIX sockets
    (SOL_SOCKET, 34): errno.EOPNOTSUPP,
    (SOL_SOCKET, 76): errno.EOPNOTSUPP,
    (SOL_SOCKET, 26): errno.ENOPROTOOPT,  # filters, which would act on what application and server write
    (SOL_SOCKET, 50): errno.ENOPROTOOPT,
    (SOL_SOCKET, 51): errno.ENOPROTOOPT,
    (SOL_SOCKET, 52): errno.ENOPROTOOPT,
    (SOL_SOCKET, 59): errno.ENODATA,  # SO_PEERGROUPS
    (SOL_SOCKET, 77): errno.ENODATA,  # SO_PEERPIDFD
    (SOL_SOCKET, 31): errno.ENOPROTOOPT,  # SO_PEERSEC
    (SOL_TCP, 31): errno.ENOENT,  # TCP_ULP
    (SOL_IP, 3): errno.ENOPROTOOPT,  # IP_HDRINCL
}
"""The options that can be neither read nor set, with the errno of an attempt."""
SET_ONLY = {(SOL_IP, option) for option in (*range(35, 41), *range(42, 49))} | {
    (SOL_IPV6, option) for option in (0, 7, 9, 20, 21, 42, 43, 44, 45, 46, 47, 50, 52)
}
"""The options that can be set but not read, most of them for memberships of multicast groups."""
SO_RCVBUF, SO_SNDBUFFORCE, SO_RCVBUFFORCE = 8, 32, 33
BUFFERS = tuple((SOL_SOCKET, option) for option in (SO_RCVBUF, SO_SNDBUFFORCE, SO_RCVBUFFORCE))
LARGEST_BUFFER_BYTES = 1 << 24
LAST_OPTIONS = {SOL_IP: 51, SOL_TCP: 45, SOL_UDP: 104, SOL_IPV6: 80}
"""The highest number of an option at some levels (Linux 6.12). Higher numbers belong to netfilter."""
READ_ONLY = {(SOL_SOCKET, option) for option in (3, 4, 17, 30, 38, 39)}
"""The options that can be read but not set: SO_TYPE, SO_ERROR, SO_PEERCRED, SO_ACCEPTCONN, SO_PROTOCOL, SO_DOMAIN."""
TCP_INFO, TCP_MAXSEG = (SOL_TCP, 11), (SOL_TCP, 2)
TCP_CORK, UDP_CORK = (SOL_TCP, 3), (SOL_UDP, 1)
LENGTHS = {(SOL_SOCKET, 13): 8}
SEGMENT_BYTES = (88, 32767)
"""The range of TCP_MAXSEG in Linux: TCP_MIN_MSS to MAX_TCP_WINDOW (net/ipv4/tcp.c)."""


_OWN_LEVELS: dict[type[SimulatedSocket], tuple[int, ...]] = {
    StreamSocket: (SOL_TCP,),
    UdpSocket: (SOL_UDP, SOL_UDPLITE),
    PingSocket: (),
    RawSocket: (SOL_RAW, SOL_ICMPV6),
}
"""The levels of a socket's own protocol, by kind of socket."""


def levels_of(which: SimulatedSocket) -> tuple[int, ...]:
    """Return the levels at which a socket has options."""
    if isinstance(which, NetlinkSocket):
        return (SOL_SOCKET, SOL_NETLINK)
    own = _OWN_LEVELS[type(which)]
    return (SOL_SOCKET, SOL_IP, *own) if which.family == 4 else (SOL_SOCKET, SOL_IP, SOL_IPV6, *own)


def _is_unknown(which: SimulatedSocket, key: Key) -> bool:
    level, option = key
    least = 1 if level == SOL_TCP else 0
    return level not in levels_of(which) or (level in LAST_OPTIONS and not least <= option <= LAST_OPTIONS[level])


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The objects outside of a socket on which the values of its options depend."""

    interfaces: InterfaceTable
    datagrams: Datagrams
    wire: Wire


def get(around: Surroundings, which: SimulatedSocket, key: Key) -> bytes | int:
    """Return the value of a socket option as bytes, or an errno."""
    if key[0] not in levels_of(which):
        return errno.EOPNOTSUPP if which.family == 4 else errno.ENOPROTOOPT
    if _is_unknown(which, key) or key in SET_ONLY:
        return errno.ENOPROTOOPT
    if key in REFUSED:
        return REFUSED[key]
    if key in _FACTS:
        return struct.pack("=i", _FACTS[key](which))
    if key in _TOLD:
        return _TOLD[key](around, which)
    if key in NUMBERS or key not in BYTES:
        number = NUMBERS.get(key, Number())
        if key[0] == SOL_SOCKET and key not in NUMBERS:
            return errno.ENOPROTOOPT
        return which.options.get(key, struct.pack("=i", number.unset))
    value = which.options.get(key, BYTES[key])
    return value[4:8] if key == (SOL_IP, 32) and len(value) > 4 else value


def put(around: Surroundings, which: SimulatedSocket, key: Key, value: bytes) -> int:
    """Set a socket option. Return 0 or an errno."""
    if _is_unknown(which, key) or key in READ_ONLY:
        return errno.ENOPROTOOPT
    if key in REFUSED:
        return REFUSED[key]
    if key in BUFFERS:
        return _set_buffer(which, key[1], int.from_bytes(value[:4], "little"))
    if key in _CHECKED:
        code = _CHECKED[key](around, which, value)
        if code:
            return code
    if key in BYTES:
        if len(value) < LENGTHS.get(key, 0):
            return errno.EINVAL
        which.options[key] = value.ljust(16, b"\0") if key == (SOL_TCP, 13) else value
        return 0
    return _put_number(which, key, value)


def _set_buffer(which: SimulatedSocket, option: int, size_bytes: int) -> int:
    """Set the size of a socket's buffer, which is doubled as on Linux. Return 0 or an errno.

    The socket's receive buffer is the send buffer of the server's end. Sizes that are forced (SO_SNDBUFFORCE,
    SO_RCVBUFFORCE) also widen a stream's window, see `StreamSocket.buffer_bytes`.
    """
    if option == SO_SNDBUFFORCE:
        if isinstance(which, StreamSocket):
            which.send_bytes = min(size_bytes, LARGEST_BUFFER_BYTES)
        return 0
    if option == SO_RCVBUFFORCE and isinstance(which, StreamSocket):
        which.receive_bytes = min(size_bytes, LARGEST_BUFFER_BYTES)
    if not which.is_broken:
        own = SO_SNDBUFFORCE if option == SO_RCVBUFFORCE else socket.SO_SNDBUF
        which.end.setsockopt(socket.SOL_SOCKET, own, min(size_bytes, 1 << 30))
    return 0


def _put_number(which: SimulatedSocket, key: Key, value: bytes) -> int:
    """Set an option that is a number, given as four bytes; at the IP level one byte is enough (ip(7))."""
    number = NUMBERS.get(key, Number())
    if len(value) >= 4:
        wanted = int.from_bytes(value[:4], "little", signed=True)
    elif key[0] == SOL_IP:
        wanted = value[0] if value else 0
    else:
        return errno.EINVAL
    if not number.is_flag and not number.least <= wanted <= number.most:
        return errno.EINVAL
    if number.is_flag:
        wanted = int(wanted != 0)
    if wanted == -1 and number.least == -1:
        wanted = number.unset
    which.options[key] = struct.pack("=i", wanted)
    return 0


def _is_known_algorithm(around: Surroundings, which: SimulatedSocket, value: bytes) -> int:
    return 0 if value.rstrip(b"\0") in ALGORITHMS else errno.ENOENT


def _is_segment_size(around: Surroundings, which: SimulatedSocket, value: bytes) -> int:
    """Return whether a number can be a segment size: 0 for the default, or TCP_MIN_MSS to MAX_TCP_WINDOW bytes, as in Linux."""
    wanted = int.from_bytes(value[:4], "little", signed=True)
    return 0 if wanted == 0 or SEGMENT_BYTES[0] <= wanted <= SEGMENT_BYTES[1] else errno.EINVAL


def _has_device(around: Surroundings, which: SimulatedSocket, value: bytes) -> int:
    name = value.rstrip(b"\0")
    names = [interface.name.encode() for interface in around.interfaces.of(which.host.host)]
    return 0 if not name or name in names else errno.ENODEV


def _has_interface(around: Surroundings, which: SimulatedSocket, value: bytes) -> int:
    if len(value) < 4:
        return errno.EINVAL
    index, address = value[8:12], value[4:8] if len(value) > 4 else value[:4]
    if any(index):
        return 0 if int.from_bytes(index, "little") in (1, 2) else errno.ENODEV
    return 0 if not any(address) or around.datagrams.multicast.interface(which.host, address) else errno.EADDRNOTAVAIL


_CHECKED = {
    TCP_MAXSEG: _is_segment_size,
    (SOL_TCP, 13): _is_known_algorithm,
    (SOL_SOCKET, 25): _has_device,
    (SOL_IP, 32): _has_interface,
}


# Options whose values are computed


def _is_near(which: StreamSocket) -> bool:
    """Return whether a socket's peer is reached over the loopback interface."""
    return which.remote is not None and (
        is_loopback(plain(which.remote.ip)) or which.peer is None or which.peer.host is which.host
    )


def segment_bytes(which: StreamSocket) -> int:
    """Return the bytes of data in a full segment of a TCP socket."""
    mss = MSS[_is_near(which)] if which.state is SocketState.CONNECTED else 536
    wanted = int.from_bytes(which.options.get(TCP_MAXSEG, b""), "little")
    return min(wanted or mss, mss) if which.state is SocketState.CONNECTED else wanted or mss


def _segment(around: Surroundings, which: SimulatedSocket) -> bytes:
    assert isinstance(which, StreamSocket)  # only TCP sockets have options at TCP's level
    return struct.pack("=i", segment_bytes(which))


def _mtu(around: Surroundings, which: SimulatedSocket) -> bytes | int:
    if which.state is not SocketState.CONNECTED:
        return errno.ENOTCONN
    return struct.pack("=i", MTU[is_loopback(plain(which.remote.ip))] if which.remote is not None else MTU[False])


def tcp_info(wire: Wire, which: StreamSocket) -> bytes:
    """Return a struct tcp_info. The fields about loss and congestion say that there was none."""
    state = STATES[which.state]
    if which.state is SocketState.CONNECTED and which.fin.is_sent:
        state = FIN_WAIT2
    waiting, backlog = (len(which.queue.pending), which.queue.backlog) if which.state is SocketState.LISTENING else (0, 0)
    mss = segment_bytes(which)
    latency_ns = wire.latency_ns(which.host, which.peer.host) if which.peer is not None else 0
    rtt_us = max(1, 2 * latency_ns // 1000) if which.peer is not None else 0
    head = struct.pack("=8B", state, 0, 0, 0, 0, 7, 0x77, 0)
    times = (200_000 + rtt_us, 40_000, mss, mss, waiting, backlog, 0, 0, 0, 0, 0, 0, 0)
    sizes = (MTU[_is_near(which)], 65535, rtt_us, rtt_us // 2, 0x7FFFFFFF, 10, mss, 3, rtt_us, 65535, 0)
    counts = struct.pack("=4Q", 0, (1 << 64) - 1, which.bytes_read, which.bytes_pushed)
    return head + struct.pack("=13I", *times) + struct.pack("=11I", *sizes) + counts + bytes(96)


def congestion_control(which: StreamSocket) -> bytes:
    """Return the name of the congestion control algorithm of a TCP socket, which has no effect."""
    return which.options.get((SOL_TCP, 13), BYTES[SOL_TCP, 13]).rstrip(b"\0")


def _name_bytes(address: Address) -> bytes:
    if address.family == 4:
        return struct.pack("=H", 2) + struct.pack("!H", address.port) + address.ip + bytes(8)
    return struct.pack("=H", 10) + struct.pack("!HI", address.port, 0) + address.ip + bytes(4)


def _peer_name(around: Surroundings, which: SimulatedSocket) -> bytes | int:
    if which.state is not SocketState.CONNECTED or which.remote is None:
        return errno.ENOTCONN
    return _name_bytes(which.remote)


def _error(around: Surroundings, which: SimulatedSocket) -> bytes:
    code, which.error = which.error, 0
    return struct.pack("=i", code)


def _tcp_info(around: Surroundings, which: SimulatedSocket) -> bytes:
    assert isinstance(which, StreamSocket)  # only TCP sockets have options at TCP's level
    return tcp_info(around.wire, which)


_TYPES: dict[type[SimulatedSocket], int] = {StreamSocket: 1, UdpSocket: 2, PingSocket: 2, RawSocket: 3}
"""SOCK_STREAM, SOCK_DGRAM and SOCK_RAW, by kind of socket."""


def _type(which: SimulatedSocket) -> int:
    return which.type if isinstance(which, NetlinkSocket) else _TYPES[type(which)]


def _protocol(which: SimulatedSocket) -> int:
    if isinstance(which, (NetlinkSocket, IcmpSocket)):
        return which.protocol
    return 6 if isinstance(which, StreamSocket) else 17


_FACTS: dict[Key, Callable[[SimulatedSocket], int]] = {
    (SOL_SOCKET, 3): _type,  # SO_TYPE
    (SOL_SOCKET, 30): lambda which: int(which.state is SocketState.LISTENING),  # SO_ACCEPTCONN
    (SOL_SOCKET, 38): _protocol,  # SO_PROTOCOL
    (SOL_SOCKET, 39): lambda which: {4: 2, 6: 10, 16: 16}[which.family],  # SO_DOMAIN
}
"""Options whose values are numbers that follow from the socket."""
_TOLD: dict[Key, Callable[[Surroundings, SimulatedSocket], bytes | int]] = {
    (SOL_SOCKET, 4): _error,  # SO_ERROR: a read clears the error
    (SOL_SOCKET, 17): lambda around, which: struct.pack("=iii", 0, -1, -1),  # SO_PEERCRED, which names no process
    (SOL_SOCKET, 28): _peer_name,  # SO_PEERNAME
    (SOL_SOCKET, 57): lambda around, which: struct.pack("=Q", which.number),  # SO_COOKIE
    (SOL_SOCKET, 71): lambda around, which: struct.pack("=Q", 1),  # SO_NETNS_COOKIE
    TCP_MAXSEG: _segment,
    TCP_INFO: _tcp_info,
    (SOL_IP, 14): _mtu,  # IP_MTU
    (SOL_IPV6, 24): _mtu,  # IPV6_MTU
    (SOL_IPV6, 61): lambda around, which: errno.ENOTCONN,  # IPV6_PATHMTU
}
"""Other options whose values are computed; the function returns bytes, or an errno."""
