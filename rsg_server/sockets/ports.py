"""Addresses and ports: which addresses mean the same, and which sockets may have one port of a host."""

from __future__ import annotations

from typing import TypeVar, cast

from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import SimulatedSocket, SocketState

Kind = TypeVar("Kind", bound=SimulatedSocket)

LOOPBACK = {4: b"\x7f\x00\x00\x01", 6: b"\x00" * 15 + b"\x01"}
ANY = {4: b"\x00" * 4, 6: b"\x00" * 16}
MAPPED = b"\x00" * 10 + b"\xff\xff"
"""The bytes that turn an IPv4 address, which follows them, into an IPv6 address (RFC 4291, 2.5.5.2)."""
SOL_SOCKET, SO_REUSEADDR, SO_REUSEPORT = 1, 2, 15
SOL_IPV6, IPV6_V6ONLY = 41, 26
FIRST_EPHEMERAL_PORT, LAST_EPHEMERAL_PORT = 32768, 60999
"""The range of ephemeral ports: net.ipv4.ip_local_port_range of Linux."""
TIME_WAIT_NS = 60 * 10**9


class HostPorts:
    """The ports of one host to which sockets are bound, or whose last connection is in TIME_WAIT."""

    def __init__(self) -> None:
        # the sockets by kind and port, in the order in which they were bound
        self.owners: dict[tuple[type[SimulatedSocket], int], list[SimulatedSocket]] = {}
        # by TCP port: when its TIME_WAIT ends (virtual ns), and whether SO_REUSEADDR was set
        self._time_wait: dict[int, tuple[int, bool]] = {}
        self._next_ephemeral = FIRST_EPHEMERAL_PORT

    def at(self, kind: type[Kind], port: int) -> list[Kind]:
        """Return the sockets that are bound to a port, as a new list, since the caller may end some of them."""
        return cast("list[Kind]", list(self.owners.get((kind, port), ())))

    def add(self, which: SimulatedSocket) -> None:
        """Add a socket that has been bound."""
        assert which.local is not None
        self.owners.setdefault((type(which), which.local.port), []).append(which)

    def remove(self, which: SimulatedSocket) -> None:
        """Remove a socket; do nothing if it is not bound."""
        if which.local is None:
            return
        key = (type(which), which.local.port)
        owners = self.owners.get(key, [])
        if which in owners:
            owners.remove(which)
            if not owners:
                del self.owners[key]

    def ephemeral(self, kind: type[SimulatedSocket]) -> int:
        """Return the next free port of the ephemeral range, in ascending order and then from the start again; 0 if none
        is free.

        Linux begins at a random port. The fixed order here makes runs repeatable.
        """
        for _ in range(LAST_EPHEMERAL_PORT - FIRST_EPHEMERAL_PORT + 1):
            port = self._next_ephemeral
            self._next_ephemeral = FIRST_EPHEMERAL_PORT if port == LAST_EPHEMERAL_PORT else port + 1
            if (kind, port) not in self.owners:
                return port
        return 0

    def begin_time_wait(self, closed: SimulatedSocket, now_ns: int) -> None:
        """Put the port of a connection that this host has closed first into TIME_WAIT."""
        if closed.local is not None:
            self._time_wait[closed.local.port] = (now_ns + TIME_WAIT_NS, flag(closed, SO_REUSEADDR))

    def is_in_time_wait(self, new: SimulatedSocket, port: int, now_ns: int) -> bool:
        """Return whether a port is in TIME_WAIT, after a connection that this host has closed first (RFC 9293, 3.4.2)."""
        if not isinstance(new, StreamSocket) or port not in self._time_wait:
            return False
        until_ns, reusable = self._time_wait[port]
        return until_ns > now_ns and not (reusable and flag(new, SO_REUSEADDR))

    def clear(self) -> None:
        """Forget all ports, because the host has lost power. Afterwards ephemeral ports are given from the lowest one again."""
        self.owners.clear()
        self._next_ephemeral = FIRST_EPHEMERAL_PORT


def is_loopback(ip: bytes) -> bool:
    """Return whether an IP address is in 127/8, or ::1."""
    return ip[:1] == b"\x7f" if len(ip) == 4 else ip == LOOPBACK[6]


def plain(ip: bytes) -> bytes:
    """Return the IPv4 address that an IPv4-mapped IPv6 address means; any other address unchanged."""
    return ip[12:] if len(ip) == 16 and ip.startswith(MAPPED) else ip


def in_family(ip: bytes, family: int) -> bytes:
    """Return an address in the form in which a socket of an address family shows it."""
    if family == 4:
        return plain(ip)
    return ip if len(ip) == 16 else MAPPED + ip


def local_ip(which: SimulatedSocket) -> bytes:
    """Return the IP address of a bound socket, as `plain` does."""
    assert which.local is not None
    return plain(which.local.ip)


def flag(which: SimulatedSocket, option: int, level: int = SOL_SOCKET) -> bool:
    """Return whether an option that is off by default has been switched on."""
    return any(which.options.get((level, option), b""))


def conflict(new: SimulatedSocket, ip: bytes, old: SimulatedSocket) -> bool:
    """Return whether a socket cannot have an address because another has the port (SO_REUSEADDR, SO_REUSEPORT: socket(7))."""
    if old.local is None or not _overlap(new, ip, old, local_ip(old)):
        return False
    if flag(new, SO_REUSEPORT) and flag(old, SO_REUSEPORT):
        return False
    reuse = flag(new, SO_REUSEADDR) and flag(old, SO_REUSEADDR)
    return not (reuse and (not isinstance(new, StreamSocket) or old.state is not SocketState.LISTENING))


def _overlap(new: SimulatedSocket, ip: bytes, old: SimulatedSocket, other: bytes) -> bool:
    """Return whether a packet could be for both addresses. Of IPv6 addresses, only "any" can stand for IPv4 addresses, too."""
    if len(ip) == len(other):
        return ip == other or ip in ANY.values() or other in ANY.values()
    which, address = (new, ip) if len(ip) == 16 else (old, other)
    return address == ANY[6] and not flag(which, IPV6_V6ONLY, SOL_IPV6)


def hears(which: SimulatedSocket, ip: bytes) -> bool:
    """Return whether a socket that is bound to the right port receives what is sent to an address."""
    local = local_ip(which)
    if local != ip and local not in ANY.values():
        return False
    if local == ANY[4] and len(ip) == 16:
        return False
    return not (len(ip) == 4 and len(local) == 16 and flag(which, IPV6_V6ONLY, SOL_IPV6))
