"""The interfaces of a host, and what its netlink sockets say of them."""

from __future__ import annotations

import struct
from ipaddress import ip_address, ip_network

import pytest

from rsg_server.platform.host import Host
from rsg_server.platform.platform import Platform
from rsg_server.platform.star import Access, star
from rsg_server.sockets.interfaces import InterfaceTable
from rsg_server.sockets.netlink.messages import link_message, new_address, route_message, split_attributes


def platform(*addresses: str) -> Platform:
    hosts = [Host(f"h{number}", (ip_address(address),)) for number, address in enumerate(addresses)]
    return star(hosts, Access(1.25e8, 1000))


@pytest.mark.parametrize(
    ("addresses", "network"),
    [
        (["10.0.0.1"], "10.0.0.0/24"),
        (["10.0.0.1", "10.0.0.200"], "10.0.0.0/24"),
        (["10.0.0.1", "10.0.1.4"], "10.0.0.0/23"),
        (["10.0.0.1", "10.0.19.177"], "10.0.0.0/19"),
        (["10.0.0.1", "10.0.0.255"], "10.0.0.0/23"),
        (["10.0.0.1", "192.168.0.1"], "10.0.0.0/8"),
        (["fd00::1", "fd00::2"], "fd00::/64"),
    ],
)
def test_network_is_the_smallest_usual_one_that_holds_all_hosts(addresses: list[str], network: str) -> None:
    known = platform(*addresses)
    eth0 = InterfaceTable(known).of(known.hosts[0])[1]
    assert [address.network for address in eth0.addresses] == [ip_network(network)]


def test_eth0_has_the_speed_of_its_link_and_a_mac_address_from_its_address() -> None:
    known = platform("10.0.0.1", "10.0.0.2")
    table = InterfaceTable(known)
    assert [interface.name for interface in table.of(known.hosts[1])] == ["lo", "eth0"]
    eth0 = table.of(known.hosts[1])[1]
    assert (eth0.hardware.hex(":"), eth0.speed_mbit, eth0.mtu) == ("02:42:0a:00:00:02", 1000, 1500)


def test_default_route_only_where_hosts_are_elsewhere() -> None:
    near, far = platform("10.0.0.1", "10.0.0.2"), platform("10.0.0.1", "192.168.0.1")
    assert not InterfaceTable(near).reaches_beyond(near.hosts[0])
    assert InterfaceTable(far).reaches_beyond(far.hosts[0])


def test_messages_hold_what_they_should() -> None:
    known = platform("10.0.0.1", "10.0.0.2")
    eth0 = InterfaceTable(known).of(known.hosts[0])[1]
    assert split_attributes(link_message(eth0).body, 16)[3] == b"eth0\0"
    address = split_attributes(new_address(eth0, eth0.addresses[0]).body, 8)
    assert (address[2], address[4]) == (b"\x0a\0\0\1", b"\x0a\0\0\xff")
    route = split_attributes(route_message(eth0, eth0.addresses[0].network, eth0.addresses[0].ip).body, 12)
    assert (route[1], route[4]) == (b"\x0a\0\0\0", struct.pack("=I", 2))


@pytest.mark.parametrize("body", [b"", b"\1", b"\0\0\0\0", b"\xff\xff\1\0", b"\4\0\1\0\4"])
def test_broken_attributes_are_no_attributes(body: bytes) -> None:
    assert all(isinstance(value, bytes) for value in split_attributes(body, 0).values())
