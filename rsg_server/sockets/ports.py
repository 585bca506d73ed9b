"""Addresses and ports: what an address means, and which sockets may have the same port of a host."""

from __future__ import annotations

from typing import TypeVar, cast

from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import SimulatedSocket, SocketState

Kind = TypeVar("Kind", bound=SimulatedSocket)

LOOPBACK = {4: b"\x7f\x00\x00\x01", 6: b"\x00" * 15 + b"\x01"}
ANY = {4: b"\x00" * 4, 6: b"\x00" * 16}
MAPPED = b"\x00" * 10 + b"\xff\xff"
"""What makes an IPv6 address of an IPv4 address that follows (RFC 4291, 2.5.5.2)."""
SOL_SOCKET, SO_REUSEADDR, SO_REUSEPORT = 1, 2, 15
SOL_IPV6, IPV6_V6ONLY = 41, 26
FIRST_EPHEMERAL_PORT, LAST_EPHEMERAL_PORT = 32768, 60999
"""net.ipv4.ip_local_port_range."""
TIME_WAIT_NS = 60 * 10**9


class HostPorts:
    """The ports of one host that sockets are bound to, or whose last connection may still be heard of (TIME_WAIT)."""

    def __init__(self) -> None:
        self.owners: dict[tuple[type[SimulatedSocket], int], list[SimulatedSocket]] = {}  # by kind and port, as they were bound
        self._time_wait: dict[int, tuple[int, bool]] = {}  # TCP port -> end (virtual ns), and whether SO_REUSEADDR was set
        self._next_ephemeral = FIRST_EPHEMERAL_PORT

    def at(self, kind: type[Kind], port: int) -> list[Kind]:
        """The sockets that are bound to a port: a copy, since looking at them may end some."""
        return cast("list[Kind]", list(self.owners.get((kind, port), ())))

    def add(self, which: SimulatedSocket) -> None:
        """Account for a socket that has been bound."""
        assert which.local is not None
        self.owners.setdefault((type(which), which.local.port), []).append(which)

    def remove(self, which: SimulatedSocket) -> None:
        """Forget a socket; nothing happens if it is not bound."""
        if which.local is None:
            return
        key = (type(which), which.local.port)
        owners = self.owners.get(key, [])
        if which in owners:
            owners.remove(which)
            if not owners:
                del self.owners[key]

    def ephemeral(self, kind: type[SimulatedSocket]) -> int:
        """The next free port of the ephemeral range, in ascending order with wrap-around; 0 if all are taken.

        Linux starts at a random one: here the order is what makes runs repeatable.
        """
        for _ in range(LAST_EPHEMERAL_PORT - FIRST_EPHEMERAL_PORT + 1):
            port = self._next_ephemeral
            self._next_ephemeral = FIRST_EPHEMERAL_PORT if port == LAST_EPHEMERAL_PORT else port + 1
            if (kind, port) not in self.owners:
                return port
        return 0

    def begin_time_wait(self, closed: SimulatedSocket, now_ns: int) -> None:
        """A connection has been closed from here first: its port stays in TIME_WAIT."""
        if closed.local is not None:
            self._time_wait[closed.local.port] = (now_ns + TIME_WAIT_NS, flag(closed, SO_REUSEADDR))

    def is_in_time_wait(self, new: SimulatedSocket, port: int, now_ns: int) -> bool:
        """Whether a connection that was closed from here may still be heard of at the port (RFC 9293, 3.4.2)."""
        if not isinstance(new, StreamSocket) or port not in self._time_wait:
            return False
        until_ns, reusable = self._time_wait[port]
        return until_ns > now_ns and not (reusable and flag(new, SO_REUSEADDR))

    def clear(self) -> None:
        """The host has lost power: nothing is bound, and ephemeral ports begin anew."""
        self.owners.clear()
        self._next_ephemeral = FIRST_EPHEMERAL_PORT


def is_loopback(ip: bytes) -> bool:
    """127/8 or ::1."""
    return ip[:1] == b"\x7f" if len(ip) == 4 else ip == LOOPBACK[6]


def plain(ip: bytes) -> bytes:
    """An IPv4-mapped IPv6 address as the IPv4 address that it means; any other address as it is."""
    return ip[12:] if len(ip) == 16 and ip.startswith(MAPPED) else ip


def in_family(ip: bytes, family: int) -> bytes:
    """An address in the form in which a socket of the family shows it."""
    if family == 4:
        return plain(ip)
    return ip if len(ip) == 16 else MAPPED + ip


def local_ip(which: SimulatedSocket) -> bytes:
    """The address of a bound socket."""
    assert which.local is not None
    return plain(which.local.ip)


def flag(which: SimulatedSocket, option: int, level: int = SOL_SOCKET) -> bool:
    """Whether an option that is off by default has been switched on."""
    return any(which.options.get((level, option), b""))


def conflict(new: SimulatedSocket, ip: bytes, old: SimulatedSocket) -> bool:
    """Whether a socket cannot have an address at the port of another one (SO_REUSEADDR and SO_REUSEPORT: socket(7))."""
    if old.local is None or not _overlap(new, ip, old, local_ip(old)):
        return False
    if flag(new, SO_REUSEPORT) and flag(old, SO_REUSEPORT):
        return False
    reuse = flag(new, SO_REUSEADDR) and flag(old, SO_REUSEADDR)
    return not (reuse and (not isinstance(new, StreamSocket) or old.state is not SocketState.LISTENING))


def _overlap(new: SimulatedSocket, ip: bytes, old: SimulatedSocket, other: bytes) -> bool:
    """Whether something could be sent to both. Of the IPv6 addresses only "any" may stand for IPv4 ones too."""
    if len(ip) == len(other):
        return ip == other or ip in ANY.values() or other in ANY.values()
    which, address = (new, ip) if len(ip) == 16 else (old, other)
    return address == ANY[6] and not flag(which, IPV6_V6ONLY, SOL_IPV6)


def hears(which: SimulatedSocket, ip: bytes) -> bool:
    """Whether a socket that is bound to the right port gets what is sent to an address."""
    local = local_ip(which)
    if local != ip and local not in ANY.values():
        return False
    if local == ANY[4] and len(ip) == 16:
        return False
    return not (len(ip) == 4 and len(local) == 16 and flag(which, IPV6_V6ONLY, SOL_IPV6))
