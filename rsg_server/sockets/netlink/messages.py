"""Encodes interfaces, addresses and routes as messages of rtnetlink(7)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

from rsg_server.sockets.interfaces import AnyAddress, AnyInterface, Interface

AnyNetwork = IPv4Network | IPv6Network
IFINFOMSG, IFADDRMSG, RTMSG = struct.Struct("=BxHiII"), struct.Struct("=BBBBI"), struct.Struct("=BBBBBBBBI")
NEWLINK, NEWADDR, NEWROUTE = 16, 20, 24
FAMILY = {4: 2, 6: 10}
PERMANENT, FOREVER = 0x80, 0xFFFFFFFF
SCOPE_GLOBAL, SCOPE_LINK, SCOPE_HOST = 0, 253, 254
TABLE_MAIN, TABLE_LOCAL, PROTOCOL_KERNEL, UNICAST, LOCAL = 254, 255, 2, 1, 2
OPERSTATE = {False: 6, True: 0}
"""IFLA_OPERSTATE by whether the interface is lo: IF_OPER_UP, and IF_OPER_UNKNOWN as Linux says of lo."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of an answer, without the netlink header."""

    kind: int
    body: bytes


def attribute(kind: int, value: bytes) -> bytes:
    """Return the bytes of an attribute, padded to a multiple of four bytes."""
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def _number(kind: int, value: int) -> bytes:
    return attribute(kind, struct.pack("=I", value))


def split_attributes(body: bytes, at: int) -> dict[int, bytes]:
    """Return the attributes of a request, which follow its fixed part."""
    found = {}
    while at + 4 <= len(body):
        length, kind = struct.unpack_from("=HH", body, at)
        if length < 4:
            break
        found[kind & 0x3FFF] = body[at + 4 : at + length]
        at += length + 3 & ~3
    return found


def link_message(interface: Interface) -> Message:
    """Return the message RTM_NEWLINK about an interface, with the attributes that `ip link`, libc and udev read."""
    queue = b"noqueue\0" if interface.is_loopback else b"fq_codel\0"
    broadcast = bytes(6) if interface.is_loopback else b"\xff" * 6
    fixed = IFINFOMSG.pack(0, interface.kind, interface.index, interface.flags, 0)
    attributes = (
        attribute(3, interface.name.encode() + b"\0"),  # IFLA_IFNAME
        _number(13, 1000),  # IFLA_TXQLEN
        attribute(16, bytes([OPERSTATE[interface.is_loopback]])),  # IFLA_OPERSTATE
        attribute(17, b"\0"),  # IFLA_LINKMODE
        _number(4, interface.mtu),  # IFLA_MTU
        _number(27, 0),  # IFLA_GROUP
        _number(31, 1),  # IFLA_NUM_TX_QUEUES
        _number(32, 1),  # IFLA_NUM_RX_QUEUES
        attribute(33, b"\1"),  # IFLA_CARRIER
        attribute(6, queue),  # IFLA_QDISC
        attribute(1, interface.hardware),  # IFLA_ADDRESS
        attribute(2, broadcast),  # IFLA_BROADCAST
        attribute(23, bytes(24 * 8)),  # IFLA_STATS64
        attribute(7, bytes(23 * 4)),  # IFLA_STATS
    )
    return Message(NEWLINK, fixed + b"".join(attributes))


def new_address(interface: Interface, address: AnyInterface) -> Message:
    """RTM_NEWADDR."""
    scope = SCOPE_HOST if interface.is_loopback else SCOPE_GLOBAL
    fixed = IFADDRMSG.pack(FAMILY[address.version], address.network.prefixlen, PERMANENT, scope, interface.index)
    attributes = [attribute(1, address.ip.packed)]  # IFA_ADDRESS
    if address.version == 4:
        attributes.append(attribute(2, address.ip.packed))  # IFA_LOCAL
        if not interface.is_loopback:
            attributes.append(attribute(4, address.network.broadcast_address.packed))  # IFA_BROADCAST
        attributes.append(attribute(3, interface.name.encode() + b"\0"))  # IFA_LABEL
    attributes.append(_number(8, PERMANENT))  # IFA_FLAGS
    attributes.append(attribute(6, struct.pack("=4I", FOREVER, FOREVER, 0, 0)))  # IFA_CACHEINFO
    return Message(NEWADDR, fixed + b"".join(attributes))


def route_message(interface: Interface, network: AnyNetwork | None, source: AnyAddress, is_local: bool = False) -> Message:
    """Return the message RTM_NEWROUTE about the route to a network, the default route (None), or the route to an
    address of the host itself.
    """
    if is_local:
        network = ip_network(source)
    table = TABLE_LOCAL if is_local else TABLE_MAIN
    scope, kind = (SCOPE_HOST, LOCAL) if is_local else (SCOPE_LINK, UNICAST)
    if source.version == 6:
        scope = SCOPE_GLOBAL
    bits = 0 if network is None else network.prefixlen
    fixed = RTMSG.pack(FAMILY[source.version], bits, 0, 0, table, PROTOCOL_KERNEL, scope, kind, 0)
    attributes = [_number(15, table)]  # RTA_TABLE
    if network is not None:
        attributes.append(attribute(1, network.network_address.packed))  # RTA_DST
    if source.version == 6:
        attributes.append(_number(6, 256))  # RTA_PRIORITY
    else:
        attributes.append(attribute(7, source.packed))  # RTA_PREFSRC
    attributes.append(_number(4, interface.index))  # RTA_OIF
    return Message(NEWROUTE, fixed + b"".join(attributes))
