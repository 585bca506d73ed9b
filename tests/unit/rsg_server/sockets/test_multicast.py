"""Which sockets receive a datagram to a broadcast or multicast address."""

from __future__ import annotations

import errno
import struct

import pytest

from rsg_server.sockets.kinds.datagram import UdpSocket
from rsg_server.sockets.multicast import ETH0, LO, is_group
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import ANY, H0, PORT, new_of

GROUP, OTHER = bytes([239, 1, 2, 3]), bytes([239, 1, 2, 4])
EVERYBODY = b"\xff" * 4
ADD, DROP, SOL_IP = 35, 36, 0


@pytest.fixture
def member(world: Fake) -> UdpSocket:
    """A socket of h1 that is bound to the port and that has joined the group."""
    which = world.kernel.sockets.create(world.kernel.hosts["h1"], 4, UdpSocket)
    assert world.kernel.sockets.binding.bind(which, ANY, PORT) == 0
    assert world.kernel.datagrams.multicast.change(which, SOL_IP, ADD, GROUP + ANY) == 0
    return which


def test_addresses_that_stand_for_many(world: Fake) -> None:
    multicast, h0 = world.kernel.datagrams.multicast, world.kernel.hosts["h0"]
    assert is_group(GROUP) and is_group(b"\xff\2" + bytes(13) + b"\1") and not is_group(H0)
    assert [multicast.is_many(h0, ip) for ip in (GROUP, EVERYBODY, bytes([10, 0, 0, 255]), H0)] == [True, True, True, False]


def test_members_receive_what_is_sent_to_their_group(world: Fake, member: UdpSocket) -> None:
    multicast = world.kernel.datagrams.multicast
    assert list(multicast.receivers(member.host, ETH0, GROUP, PORT)) == [member]
    assert list(multicast.receivers(member.host, ETH0, OTHER, PORT)) == []
    assert list(multicast.receivers(member.host, LO, GROUP, PORT)) == []
    assert list(multicast.receivers(world.kernel.hosts["h0"], ETH0, GROUP, PORT)) == []


def test_a_membership_is_joined_once_and_left_once(world: Fake, member: UdpSocket) -> None:
    multicast = world.kernel.datagrams.multicast
    assert multicast.change(member, SOL_IP, ADD, GROUP + ANY) == errno.EADDRINUSE
    assert multicast.change(member, SOL_IP, DROP, GROUP + ANY) == 0
    assert multicast.change(member, SOL_IP, DROP, GROUP + ANY) == errno.EADDRNOTAVAIL
    assert list(multicast.receivers(member.host, ETH0, GROUP, PORT)) == []


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        (ADD, GROUP, errno.EINVAL),  # too short
        (ADD, H0 + ANY, errno.EINVAL),  # no group
        (ADD, GROUP + H0, errno.ENODEV),  # another host's address
        (ADD, OTHER + ANY + struct.pack("=I", 9), errno.ENODEV),
        (42, struct.pack("=I4xH2x4s", 2, 2, GROUP), errno.EINVAL),
    ],
)
def test_requests_that_make_no_sense(world: Fake, member: UdpSocket, option: int, value: bytes, code: int) -> None:
    assert world.kernel.datagrams.multicast.change(member, SOL_IP, option, value) == code


def test_a_socket_hears_groups_that_others_of_its_host_have_joined_unless_it_says_no(world: Fake, member: UdpSocket) -> None:
    other, application = new_of(world, UdpSocket, "h1")
    for which in (member, other):
        which.options[1, 15] = b"\1\0\0\0"
    with application:
        assert world.kernel.sockets.binding.bind(other, ANY, PORT) == 0
        receivers = world.kernel.datagrams.multicast.receivers
        assert list(receivers(member.host, ETH0, GROUP, PORT)) == [member, other]
        other.options[0, 49] = bytes(4)  # IP_MULTICAST_ALL
        assert list(receivers(member.host, ETH0, GROUP, PORT)) == [member]


def test_the_members_of_closed_sockets_are_forgotten(world: Fake, member: UdpSocket) -> None:
    world.kernel.sockets.forget(member)
    assert list(world.kernel.datagrams.multicast.receivers(member.host, ETH0, GROUP, PORT)) == []
    assert not world.kernel.datagrams.multicast._members


def test_a_group_reaches_the_own_host_unless_loop_is_off_and_no_other_at_ttl_0(world: Fake) -> None:
    sender, application = new_of(world, UdpSocket, "h0")
    with application:

        def reached() -> list[str]:
            return [host.name for host in world.kernel.datagrams.multicast.hosts(sender, GROUP)]

        assert reached() == ["h0", "h1"]
        sender.options[0, 34] = bytes(4)  # IP_MULTICAST_LOOP
        assert reached() == ["h1"]
        sender.options[0, 33] = bytes(4)  # IP_MULTICAST_TTL
        assert reached() == []


def test_broadcast_must_be_asked_for(world: Fake) -> None:
    sender, application = new_of(world, UdpSocket, "h0")
    with application:
        assert world.kernel.datagrams.multicast.may_send(sender, EVERYBODY) == errno.EACCES
        sender.options[1, 6] = b"\1\0\0\0"
        assert world.kernel.datagrams.multicast.may_send(sender, EVERYBODY) == 0
