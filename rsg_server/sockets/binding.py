"""Records which socket has which address and port: bind(2), implicit binding, and finds the socket that receives the
packets sent to an address.

A bound socket is in its host's `HostPorts` until it is closed or broken. Accepted connections have the port of their
listener, and are never in `HostPorts`. The real kernel may have closed a socket before the server is told. So the
server first checks whether a socket in `HostPorts` still exists (`SocketTable.is_abandoned`).
"""

from __future__ import annotations

import errno
import zlib
from typing import TYPE_CHECKING

from rsg_server.sockets import ports
from rsg_server.sockets.kinds.datagram import RawSocket, UdpSocket
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import Address, SocketState
from rsg_server.sockets.ports import ANY, LOOPBACK, HostPorts, Kind, in_family, is_loopback, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rsg_server.platform.platform import Platform
    from rsg_server.process.host_state import HostState
    from rsg_server.shared.clock import Clock
    from rsg_server.sockets.multicast import Multicast
    from rsg_server.sockets.pair import SimulatedSocket
    from rsg_server.sockets.table import SocketTable


def _has_port(which: SimulatedSocket) -> bool:
    """Return whether a socket can be used without being bound first; a raw socket has its protocol in place of a port."""
    return which.local is not None and (which.bound or isinstance(which, RawSocket))


class Binding:
    """The addresses and ports of all sockets, by host."""

    def __init__(
        self, clock: Clock, platform: Platform, hosts: Mapping[str, HostState], multicast: Multicast, sockets: SocketTable
    ) -> None:
        self._clock, self._platform, self._hosts = clock, platform, hosts
        self._multicast, self._sockets = multicast, sockets
        self._ports: dict[HostState, HostPorts] = {}

    def ports_of(self, host: HostState) -> HostPorts:
        """Return the ports of a host."""
        found = self._ports.get(host)
        if found is None:
            found = self._ports[host] = HostPorts()
        return found

    def bind(self, bound: SimulatedSocket, ip: bytes, port: int, least: int = 0) -> int:
        """Give a socket its local address; for port 0 with an ephemeral port. Return 0, or an errno.

        `least` is the lowest port that the caller may have. As in Linux, IPv6 checks the port before the address, and
        IPv4 after it.
        """
        is_refused = 0 < port < least and isinstance(bound, (StreamSocket, UdpSocket))
        if is_refused and bound.family == 6:
            return errno.EACCES
        address, taken = plain(ip), self.ports_of(bound.host)
        if not self._may_have(bound, address):
            return errno.EADDRNOTAVAIL
        if is_refused:
            return errno.EACCES
        if bound.bound:
            return errno.EINVAL
        if isinstance(bound, RawSocket):  # a raw socket is found by its protocol, and may be bound again
            assert bound.local is not None
            bound.local = Address(ip, bound.local.port)
            return 0
        if port == 0:
            port = taken.ephemeral(type(bound))
        elif taken.is_in_time_wait(bound, port, self._clock.now_ns) or any(
            not self._sockets.is_abandoned(other) and ports.conflict(bound, address, other)
            for other in taken.at(type(bound), port)
        ):
            return errno.EADDRINUSE
        bound.local = Address(ip, port)
        bound.bound = True
        taken.add(bound)
        return 0

    def bind_as_wanted(self, bound: SimulatedSocket, ip: bytes, port: int, least: int) -> int:
        """Bind a socket for a call of bind(2).

        The socket keeps this address when its connection ends, unlike an address from `bind`.
        """
        code = self.bind(bound, ip, port, least)
        if code == 0:
            bound.wanted = Address(ip, port)
        return code

    def loosen(self, which: SimulatedSocket) -> None:
        """Free the address and port of a socket that has lost its peer, unless the program chose them by bind(2).

        As in Linux, getsockname(2) still returns the old port of such a TCP socket, although another socket may take it.
        """
        if which.local is None:
            return
        wanted = which.wanted or Address(ANY[which.family], 0)
        if wanted.port == 0:
            self.release(which)
            which.bound = False
        which.local = Address(wanted.ip, which.local.port if wanted.port or isinstance(which, StreamSocket) else 0)

    def _may_have(self, bound: SimulatedSocket, address: bytes) -> bool:
        if address in (ANY[4], ANY[6]) or is_loopback(address) or self._is_own(bound.host, address):
            return True
        return not isinstance(bound, StreamSocket) and self._multicast.is_many(bound.host, address)

    def _is_own(self, host: HostState, ip: bytes) -> bool:
        return self._platform.host_by_address(ip) is host.host

    def rejoin(self, which: SimulatedSocket) -> None:
        """Give a TCP socket whose connect has failed the address and port that it had, because it tries again."""
        if which.bound:
            self.ports_of(which.host).add(which)

    def release(self, which: SimulatedSocket) -> None:
        """Free the port of a socket; do nothing if it has none."""
        self.ports_of(which.host).remove(which)

    def autobind(self, which: SimulatedSocket, towards: bytes) -> int:
        """Give an unbound socket a port, and the address from which it reaches `towards`. Return 0, or an errno."""
        own = self._own_address(which.host, towards)
        if own is None:
            return errno.ENETUNREACH
        if not _has_port(which):
            code = self.bind(which, which.local.ip if which.local is not None else ANY[which.family], 0)
            if code:
                return code
        assert which.local is not None
        if which.local.ip in ANY.values():
            which.local = Address(in_family(own, which.family), which.local.port)
        return 0

    def source(self, which: SimulatedSocket, towards: bytes, own: bytes | None = None) -> Address | None:
        """Return the source address of a datagram: the address of the socket, else `own`, else the address of the
        host's interface towards the target.

        None if the host has no address towards the target, or no free port.
        """
        own = own or self._own_address(which.host, towards)
        if own is None or (not _has_port(which) and self.bind(which, which.local.ip if which.local else ANY[which.family], 0)):
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
        """Return the host that has an IP address, as seen from `host`; None if no host has it."""
        if is_loopback(ip) or ip in ANY.values():
            return host
        if host.around is not None:
            return None
        found = self._platform.host_by_address(ip)
        return self._hosts[found.name] if found is not None else None

    def find(self, host: HostState, kind: type[Kind], ip: bytes, port: int, source: Address | None = None) -> Kind | None:
        """Return the socket of a host that receives what is sent to (ip, port): for TCP a listening one; None if there is none.

        A socket that is bound to exactly this address is preferred to sockets bound to any address. Sockets that share
        a port by SO_REUSEPORT share the senders; each sender always gets the same socket.
        """
        found = [
            which
            for which in self.ports_of(host).at(kind, port)
            if (kind is not StreamSocket or which.state is SocketState.LISTENING)
            and ports.hears(which, ip)
            and not self._sockets.is_abandoned(which)
        ]
        exact = [which for which in found if ports.local_ip(which) == ip]
        sharing = [which for which in exact or found if ports.flag(which, ports.SO_REUSEPORT)]
        if source is not None and len(sharing) > 1:
            return sharing[zlib.crc32(source.ip + source.port.to_bytes(2, "big")) % len(sharing)]
        if exact:
            return exact[-1]
        return found[0] if found else None
