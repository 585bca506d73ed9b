"""Netlink routing sockets (rtnetlink(7)): questions about a host's interfaces, addresses and routes, answered at once.

Interfaces never change: requests to change them are refused, and sockets that listen for changes receive nothing.
"""

from __future__ import annotations

import contextlib
import errno
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from rsg_server.sockets.interfaces import AnyAddress, Interface
from rsg_server.sockets.netlink_messages import FAMILY, Message, link_message, new_address, route_message, split_attributes

if TYPE_CHECKING:
    from rsg_server.sockets.needs import Addresses
    from rsg_server.sockets.pair import SimulatedSocket

NETLINK_ROUTE = 0
_HEADER = struct.Struct("=IHHII")
_ERROR, _DONE, _FIRST_REQUEST = 2, 3, 16
_REQUEST, _MULTI, _ACK, _DUMP = 0x1, 0x2, 0x4, 0x300
_GET = 2  # kinds of requests are numbered new, delete, get, set
GETLINK, GETADDR, GETROUTE = 18, 22, 26
IFLA_IFNAME, RTA_DST = 3, 1
FIRST_OTHER_PORT = (1 << 32) - 4097
"""Port numbers of further sockets of a process; its first has its pid (netlink(7))."""


class _RefusedError(Exception):
    """A request that ends with an errno."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class _Request:
    """One message of an application."""

    kind: int
    flags: int
    sequence: int
    body: bytes

    @property
    def is_dump(self) -> bool:
        """Whether the request asks for all objects of its kind (NLM_F_DUMP)."""
        return bool(self.flags & _DUMP)

    @property
    def family(self) -> int:
        """The address family that the request is about, 0 for any."""
        return self.body[0] if self.body else 0

    def number(self, at: int) -> int:
        """A 32-bit field of the body; 0 where the body is shorter, as it is for `struct rtgenmsg`."""
        return int(struct.unpack_from("=i", self.body, at)[0]) if len(self.body) >= at + 4 else 0


class Netlink:
    """All netlink sockets: their port numbers, and the answers."""

    def __init__(self, kernel: Addresses) -> None:
        self._kernel = kernel
        self._ports: dict[tuple[str, int], SimulatedSocket] = {}  # by host and port
        self._port_of: dict[int, int] = {}  # by the socket's number

    def bind(self, which: SimulatedSocket, pid: int, wanted: int) -> int:
        """Give a socket a port: the wanted one, else the pid of its process, else another; 0 or an errno."""
        own = self._port_of.get(which.number)
        if own is not None:
            return errno.EINVAL if wanted not in (0, own) else 0
        if wanted and not self._is_free(which, wanted):
            return errno.EADDRINUSE
        port = wanted or (pid if self._is_free(which, pid) else FIRST_OTHER_PORT)
        while not self._is_free(which, port):
            port -= 1
        self._ports[which.host.name, port] = which
        self._port_of[which.number] = port
        return 0

    def _is_free(self, which: SimulatedSocket, port: int) -> bool:
        holder = self._ports.get((which.host.name, port))
        if holder is not None and holder.number in self._kernel.sockets.all and not self._kernel.sockets.is_abandoned(holder):
            return False
        if holder is not None:
            del self._ports[which.host.name, port]
            self._port_of.pop(holder.number, None)
        return True

    def port(self, which: SimulatedSocket) -> int:
        """The port number of a socket, 0 as long as it has none."""
        return self._port_of.get(which.number, 0)

    def take(self, which: SimulatedSocket, pid: int = 0) -> None:
        """Answer all requests that the application has written."""
        while True:
            try:
                datagram = which.end.recv(1 << 17)
            except (BlockingIOError, ConnectionResetError):
                return
            if not datagram:
                return
            self.bind(which, pid, 0)
            if which.protocol == NETLINK_ROUTE:
                self._answer(which, datagram)

    def _answer(self, which: SimulatedSocket, datagram: bytes) -> None:
        at = 0
        while at + _HEADER.size <= len(datagram):
            length, kind, flags, sequence, _ = _HEADER.unpack_from(datagram, at)
            if not _HEADER.size <= length <= len(datagram) - at:
                return
            request = _Request(kind, flags, sequence, datagram[at + _HEADER.size : at + length])
            if flags & _REQUEST and kind >= _FIRST_REQUEST:
                for answer in self._answers(which, request, datagram[at : at + length]):
                    self._put(which, answer)
            at += length + 3 & ~3

    def _put(self, which: SimulatedSocket, answer: bytes) -> None:
        self._kernel.readiness.changed()
        with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            which.end.send(answer)

    def _answers(self, which: SimulatedSocket, request: _Request, original: bytes) -> Iterable[bytes]:
        port = self.port(which)

        def framed(kind: int, body: bytes, flags: int = 0) -> bytes:
            return _HEADER.pack(_HEADER.size + len(body), kind, flags, request.sequence, port) + body

        try:
            found = self._found(which, request)
        except _RefusedError as refused:
            yield framed(_ERROR, struct.pack("=i", -refused.code) + original)
            return
        if request.is_dump:
            if found:
                yield b"".join(framed(message.kind, message.body, _MULTI) for message in found)
            yield framed(_DONE, struct.pack("=i", 0), _MULTI)
            return
        for message in found:
            yield framed(message.kind, message.body)
        if request.flags & _ACK:
            yield framed(_ERROR, struct.pack("=i", 0) + original[: _HEADER.size], 0x100)

    def _found(self, which: SimulatedSocket, request: _Request) -> Sequence[Message]:
        if request.kind % 4 != _GET:
            raise _RefusedError(errno.EPERM)
        lookup = _LOOKUPS.get((request.kind, request.is_dump))
        if lookup is not None:
            return lookup(self, which, request)
        if request.is_dump:
            return ()  # rules, neighbours, queueing disciplines: there are none
        raise _RefusedError(errno.EOPNOTSUPP)

    def _interfaces(self, which: SimulatedSocket) -> tuple[Interface, ...]:
        return self._kernel.interfaces.of(which.host.host)

    def _links(self, which: SimulatedSocket, request: _Request) -> Sequence[Message]:
        return [link_message(interface) for interface in self._interfaces(which)]

    def _link(self, which: SimulatedSocket, request: _Request) -> Sequence[Message]:
        index = request.number(4)
        name = split_attributes(request.body, 16).get(IFLA_IFNAME, b"").rstrip(b"\0").decode(errors="replace")
        for interface in self._interfaces(which):
            if interface.index == index or (index == 0 and interface.name == name):
                return [link_message(interface)]
        raise _RefusedError(errno.ENODEV)

    def _addresses(self, which: SimulatedSocket, request: _Request) -> Sequence[Message]:
        index = request.number(4)
        return [
            new_address(interface, address)
            for version, family in FAMILY.items()
            for interface in self._interfaces(which)
            for address in interface.addresses
            if address.version == version and request.family in (0, family) and index in (0, interface.index)
        ]

    def _routes(self, which: SimulatedSocket, request: _Request) -> Sequence[Message]:
        lo, eth0 = self._interfaces(which)
        own = [address for address in eth0.addresses if request.family in (0, FAMILY[address.version])]
        messages = []
        if own and self._kernel.interfaces.reaches_beyond(which.host.host):
            messages += [route_message(eth0, None, address.ip) for address in own]
        messages += [route_message(eth0, address.network, address.ip) for address in own]
        for interface in (lo, eth0):
            for address in interface.addresses:
                if request.family in (0, FAMILY[address.version]):
                    messages.append(route_message(interface, None, address.ip, is_local=True))
        return messages

    def _route(self, which: SimulatedSocket, request: _Request) -> Sequence[Message]:
        """The route to one address: `ip route get`."""
        packed = split_attributes(request.body, 12).get(RTA_DST, b"")
        if len(packed) not in (4, 16):
            raise _RefusedError(errno.EINVAL)
        target: AnyAddress = ip_address(packed)
        lo, eth0 = self._interfaces(which)
        if target.is_loopback or target in {address.ip for address in eth0.addresses}:
            return [route_message(lo, None, target, is_local=True)]
        for address in eth0.addresses:
            if address.version == target.version and self._kernel.platform.host_by_address(packed) is not None:
                return [route_message(eth0, ip_network(target), address.ip)]
        raise _RefusedError(errno.ENETUNREACH)


_Lookup = Callable[[Netlink, "SimulatedSocket", _Request], Sequence[Message]]
_LOOKUPS: dict[tuple[int, bool], _Lookup] = {
    (GETLINK, True): Netlink._links,
    (GETLINK, False): Netlink._link,
    (GETADDR, True): Netlink._addresses,
    (GETROUTE, True): Netlink._routes,
    (GETROUTE, False): Netlink._route,
}
"""By kind of request, and whether it asks for all objects (a dump)."""
