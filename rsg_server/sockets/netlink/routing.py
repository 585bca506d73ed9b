"""Answers requests on routing sockets (rtnetlink(7)): about a host's interfaces, addresses and routes.

Interfaces never change. So requests to change one are refused, and sockets that listen for changes receive nothing.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from rsg_server.sockets.interfaces import UP, AnyAddress, Interface
from rsg_server.sockets.netlink.messages import FAMILY, Message, link_message, new_address, route_message, split_attributes
from rsg_server.sockets.netlink.request import RefusedError, Request

if TYPE_CHECKING:
    from rsg_server.platform.platform import Platform
    from rsg_server.sockets.interfaces import InterfaceTable
    from rsg_server.sockets.pair import SimulatedSocket

NETLINK_ROUTE = 0
_GET = 2  # the kinds of requests have the numbers new, delete, get, set
_NEW_LINK = 16
GETLINK, GETADDR, GETROUTE = 18, 22, 26
IFLA_IFNAME, RTA_DST = 3, 1


class Routing:
    """Answers requests about the interfaces, addresses and routes of all hosts."""

    def __init__(self, platform: Platform, interfaces: InterfaceTable) -> None:
        self._platform, self._table = platform, interfaces

    def found(self, which: SimulatedSocket, request: Request) -> Sequence[Message]:
        """Return the messages that answer a request on a socket. Raises RefusedError."""
        if request.kind == _NEW_LINK and self._is_up_already(which, request):
            return ()
        if request.kind % 4 != _GET:
            raise RefusedError(errno.EPERM)
        lookup = _LOOKUPS.get((request.kind, request.is_dump))
        if lookup is not None:
            return lookup(self, which, request)
        if request.is_dump:
            return ()  # a host has no rules, neighbours or queueing disciplines
        raise RefusedError(errno.EOPNOTSUPP)

    def _is_up_already(self, which: SimulatedSocket, request: Request) -> bool:
        """Return whether a request only asks to bring up an interface that is up already: containers do this with their
        loopback.
        """
        index, flags, change = request.number(4), request.number(8), request.number(12)
        attributes = split_attributes(request.body, 16)
        name = attributes.get(IFLA_IFNAME, b"").rstrip(b"\0").decode(errors="replace")
        known = any(one.index == index or (index == 0 and one.name == name) for one in self._interfaces(which))
        return known and not set(attributes) - {IFLA_IFNAME} and bool(flags & UP) and change in (0, UP)

    def _interfaces(self, which: SimulatedSocket) -> tuple[Interface, ...]:
        return self._table.of(which.host.host)

    def _links(self, which: SimulatedSocket, request: Request) -> Sequence[Message]:
        return [link_message(interface) for interface in self._interfaces(which)]

    def _link(self, which: SimulatedSocket, request: Request) -> Sequence[Message]:
        index = request.number(4)
        name = split_attributes(request.body, 16).get(IFLA_IFNAME, b"").rstrip(b"\0").decode(errors="replace")
        for interface in self._interfaces(which):
            if interface.index == index or (index == 0 and interface.name == name):
                return [link_message(interface)]
        raise RefusedError(errno.ENODEV)

    def _addresses(self, which: SimulatedSocket, request: Request) -> Sequence[Message]:
        index = request.number(4)
        return [
            new_address(interface, address)
            for version, family in FAMILY.items()
            for interface in self._interfaces(which)
            for address in interface.addresses
            if address.version == version and request.family in (0, family) and index in (0, interface.index)
        ]

    def _routes(self, which: SimulatedSocket, request: Request) -> Sequence[Message]:
        lo, *others = self._interfaces(which)
        eth0 = others[0] if others else lo
        own = [address for address in eth0.addresses if others and request.family in (0, FAMILY[address.version])]
        messages = []
        if own and self._table.reaches_beyond(which.host.host):
            messages += [route_message(eth0, None, address.ip) for address in own]
        messages += [route_message(eth0, address.network, address.ip) for address in own]
        for interface in (lo, *others):
            for address in interface.addresses:
                if request.family in (0, FAMILY[address.version]):
                    messages.append(route_message(interface, None, address.ip, is_local=True))
        return messages

    def _route(self, which: SimulatedSocket, request: Request) -> Sequence[Message]:
        """Return the message about the route to one address, which `ip route get` asks for."""
        packed = split_attributes(request.body, 12).get(RTA_DST, b"")
        if len(packed) not in (4, 16):
            raise RefusedError(errno.EINVAL)
        target: AnyAddress = ip_address(packed)
        lo, eth0 = self._interfaces(which)
        if target.is_loopback or target in {address.ip for address in eth0.addresses}:
            return [route_message(lo, None, target, is_local=True)]
        for address in eth0.addresses:
            if address.version == target.version and self._platform.host_by_address(packed) is not None:
                return [route_message(eth0, ip_network(target), address.ip)]
        raise RefusedError(errno.ENETUNREACH)


_Lookup = Callable[[Routing, "SimulatedSocket", Request], Sequence[Message]]
_LOOKUPS: dict[tuple[int, bool], _Lookup] = {
    (GETLINK, True): Routing._links,
    (GETLINK, False): Routing._link,
    (GETADDR, True): Routing._addresses,
    (GETROUTE, True): Routing._routes,
    (GETROUTE, False): Routing._route,
}
"""The function for each request, by its kind, and whether it asks for all objects (a dump)."""
