"""Decides which sockets receive a datagram to a broadcast address or to a multicast group, and lets sockets join groups.

All hosts are on one local network. Source filters (IP_ADD_SOURCE_MEMBERSHIP and its like) are refused.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator
from ipaddress import IPv4Interface
from typing import TYPE_CHECKING

from rsg_server.sockets.kinds.datagram import UdpSocket
from rsg_server.sockets.pair import SimulatedSocket
from rsg_server.sockets.ports import ANY, LOOPBACK, is_loopback, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rsg_server.process.host_state import HostState
    from rsg_server.sockets.interfaces import InterfaceTable
    from rsg_server.sockets.table import SocketTable

LO, ETH0 = 1, 2
SOL_SOCKET, SOL_IP, SOL_IPV6 = 1, 0, 41
SO_BROADCAST = (SOL_SOCKET, 6)
IP_MULTICAST_IF, IPV6_MULTICAST_IF = 32, 17
HOPS = {4: (SOL_IP, 33), 6: (SOL_IPV6, 18)}
LOOPS = {4: (SOL_IP, 34), 6: (SOL_IPV6, 19)}
ALL_GROUPS = {4: (SOL_IP, 49), 6: (SOL_IPV6, 29)}
"""The options IP_MULTICAST_ALL: receive from every group that any socket of the host has joined.

As IP_MULTICAST_LOOP, it is on by default.
"""
JOINS = {(SOL_IP, 35): True, (SOL_IP, 36): False, (SOL_IPV6, 20): True, (SOL_IPV6, 21): False}
JOINS |= {(level, option): option == 42 for level in (SOL_IP, SOL_IPV6) for option in (42, 45)}
"""The options that join a group (True) or leave it (False): IP_ADD_MEMBERSHIP, IPV6_ADD_MEMBERSHIP, MCAST_JOIN_GROUP, …"""
SOURCE_FILTERS = {(SOL_IP, option) for option in (37, 38, 39, 40, 41)}
SOURCE_FILTERS |= {(level, option) for level in (SOL_IP, SOL_IPV6) for option in (43, 44, 46, 47, 48)}
Membership = tuple[bytes, int]


def is_group(ip: bytes) -> bool:
    """Return whether an address is a multicast address."""
    return ip[0] >> 4 == 0xE if len(ip) == 4 else ip[0] == 0xFF


def is_on(which: SimulatedSocket, key: tuple[int, int], default: bool = True) -> bool:
    """Return whether an option of a socket is on."""
    return any(which.options[key]) if key in which.options else default


class Multicast:
    """The memberships of all sockets in multicast groups, and the receivers of datagrams to many."""

    def __init__(self, interfaces: InterfaceTable, hosts: Mapping[str, HostState], sockets: SocketTable) -> None:
        self._interfaces, self._hosts, self._sockets = interfaces, hosts, sockets
        self._members: dict[int, set[Membership]] = {}  # by the number of the socket

    # Addresses of many receivers

    def is_broadcast(self, host: HostState, ip: bytes) -> bool:
        """Return whether an address is 255.255.255.255, or the last one of a network that the host is in."""
        if len(ip) != 4:
            return False
        return ip == b"\xff" * 4 or any(
            isinstance(address, IPv4Interface) and address.network.broadcast_address.packed == ip
            for interface in self._interfaces.of(host.host)
            for address in interface.addresses
        )

    def is_many(self, host: HostState, ip: bytes) -> bool:
        """Return whether an address stands for more than one receiver: broadcast or multicast."""
        return is_group(ip) or self.is_broadcast(host, ip)

    def interface(self, host: HostState, ip: bytes) -> int:
        """Return the index of the interface with an address; 0 if the host does not have this address."""
        if is_loopback(ip):
            return LO
        return ETH0 if any(address.packed == ip for address in host.host.addresses) else 0

    def outgoing(self, sender: SimulatedSocket, ip: bytes) -> int:
        """Return the index of the interface through which a datagram to many receivers leaves its host."""
        if not is_group(ip):
            return LO if is_loopback(ip) else ETH0
        if len(ip) == 16:
            return int.from_bytes(sender.options.get((SOL_IPV6, IPV6_MULTICAST_IF), b"")[:4], "little") or ETH0
        chosen = sender.options.get((SOL_IP, IP_MULTICAST_IF), b"")
        return self._chosen(sender.host, chosen if len(chosen) > 4 else bytes(4) + chosen) or ETH0

    def source(self, sender: SimulatedSocket, ip: bytes) -> bytes | None:
        """Return the source address of a datagram to many receivers; None if the interface has none."""
        if self.outgoing(sender, ip) == LO:
            return LOOPBACK[4 if len(ip) == 4 else 6]
        return next((address.packed for address in sender.host.host.addresses if len(address.packed) == len(ip)), None)

    # Membership in groups

    def change(self, which: SimulatedSocket, level: int, option: int, value: bytes) -> int:
        """Join or leave a group, as a socket option asks. Return 0 or an errno."""
        wanted = self._membership(which, level, option, value)
        if isinstance(wanted, int):
            return wanted
        members = self._members.setdefault(which.number, set())
        if JOINS[level, option]:
            if wanted in members:
                return errno.EADDRINUSE
            members.add(wanted)
            return 0
        if wanted not in members:
            return errno.EADDRNOTAVAIL
        members.discard(wanted)
        return 0

    def _membership(self, which: SimulatedSocket, level: int, option: int, value: bytes) -> Membership | int:
        """Return the group and the interface that an option names (struct ip_mreq, ip_mreqn, ipv6_mreq, group_req), or
        an errno.
        """
        if option in (42, 45):
            if len(value) < 136:
                return errno.EINVAL
            index, family = struct.unpack_from("=I4xH", value)
            group = value[12:16] if family == 2 else value[16:32]
        elif level == SOL_IPV6:
            if len(value) < 20:
                return errno.EINVAL
            group, index = value[:16], int.from_bytes(value[16:20], "little")
        else:
            if len(value) < 8:
                return errno.EINVAL
            group, index = value[:4], self._chosen(which.host, value)
            if index == 0 and any(value[4:8]):
                return errno.ENODEV
        if not is_group(group):
            return errno.EINVAL
        return (group, index or ETH0) if index in (0, LO, ETH0) else errno.ENODEV

    def _chosen(self, host: HostState, request: bytes) -> int:
        """Return the interface that a struct ip_mreq or ip_mreqn names, by its index, else by its address; 0 if the
        structure names no interface.
        """
        index = int.from_bytes(request[8:12], "little")
        return index or (self.interface(host, request[4:8]) if any(request[4:8]) else 0)

    # Receivers of a datagram

    def may_send(self, sender: SimulatedSocket, ip: bytes) -> int:
        """Return 0 if a socket may send a datagram to this address of many receivers, else the errno for the sender."""
        if self.is_broadcast(sender.host, ip) and not is_on(sender, SO_BROADCAST, default=False):
            return errno.EACCES
        return 0 if self.source(sender, ip) is not None else errno.ENETUNREACH

    def hosts(self, sender: SimulatedSocket, ip: bytes) -> Iterator[HostState]:
        """Yield the hosts that a datagram to many receivers reaches, in the order of the platform."""
        family = 4 if len(ip) == 4 else 6
        leaves = self.outgoing(sender, ip) == ETH0
        # through lo, a datagram reaches only its own host
        returns = not leaves or not is_group(ip) or is_on(sender, LOOPS[family])
        if is_group(ip) and sender.options.get(HOPS[family], b"\1")[:1] == b"\0":
            leaves = False
        for host in self._hosts.values():
            if returns if host is sender.host else leaves:
                yield host

    def receivers(self, host: HostState, interface: int, ip: bytes, port: int) -> Iterator[UdpSocket]:
        """Yield the sockets of a host that receive a datagram to many: bound to its port, and to no other address."""
        candidates = self._sockets.binding.ports_of(host).at(UdpSocket, port)
        joined = {which.number for which in self._all_members(host, (ip, interface))} if is_group(ip) else set()
        if is_group(ip) and not joined:
            return
        for which in candidates:
            assert which.local is not None
            local = plain(which.local.ip)
            if local != ip and local not in ANY.values():
                continue
            if is_group(ip) and which.number not in joined and not is_on(which, ALL_GROUPS[which.family]):
                continue
            if not self._sockets.is_abandoned(which):
                yield which

    def _all_members(self, host: HostState, wanted: Membership) -> Iterator[SimulatedSocket]:
        for number in list(self._members):
            which = self._sockets.all.get(number)
            if which is None:
                del self._members[number]
            elif which.host is host and wanted in self._members[number] and not self._sockets.is_abandoned(which):
                yield which
