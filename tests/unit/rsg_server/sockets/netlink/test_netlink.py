"""Netlink sockets: their port numbers, and what they are answered."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from rsg_server.sockets.kinds.netlink import NetlinkSocket
from rsg_server.sockets.netlink.messages import NEWADDR, NEWLINK, NEWROUTE
from rsg_server.sockets.netlink.netlink import FIRST_OTHER_PORT
from rsg_server.sockets.netlink.routing import GETADDR, GETLINK, GETROUTE
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import H1, new_of

HEADER = struct.Struct("=IHHII")
ERROR, DONE = 2, 3
REQUEST, ACK, DUMP = 1, 4, 0x300


def ask(
    world: Fake, which: NetlinkSocket, application: socket.socket, kind: int, flags: int, body: bytes
) -> list[tuple[int, bytes]]:
    """Kind and body of each message of the answer."""
    application.send(HEADER.pack(HEADER.size + len(body), kind, REQUEST | flags, 7, 0) + body)
    world.kernel.netlink.take(which, pid=100)
    found: list[tuple[int, bytes]] = []
    while True:
        try:
            data = application.recv(1 << 17)
        except BlockingIOError:
            return found
        while data:
            length, answer, _, sequence, port = HEADER.unpack_from(data)
            assert (sequence, port) == (7, which.port)
            found.append((answer, data[HEADER.size : length]))
            data = data[length + 3 & ~3 :]


def error_of(body: bytes) -> int:
    return -int(struct.unpack_from("=i", body)[0])


def test_the_first_socket_of_a_process_has_its_pid_for_a_port(world: Fake) -> None:
    netlink = world.kernel.netlink
    (first, one), (second, two), (third, three) = (new_of(world, NetlinkSocket, family=16) for _ in range(3))
    with two, three:
        assert first.port == 0
        assert netlink.bind(first, 100, 0) == 0 == netlink.bind(second, 100, 0)
        assert (first.port, second.port) == (100, FIRST_OTHER_PORT)
        assert netlink.bind(third, 100, 100) == errno.EADDRINUSE
        assert netlink.bind(first, 100, 5) == errno.EINVAL
        one.close()
        assert netlink.bind(third, 100, 100) == 0


@pytest.mark.parametrize(("kind", "answer", "count"), [(GETLINK, NEWLINK, 2), (GETADDR, NEWADDR, 3), (GETROUTE, NEWROUTE, 4)])
def test_a_dump_tells_all_and_says_so(world: Fake, kind: int, answer: int, count: int) -> None:
    which, application = new_of(world, NetlinkSocket, family=16)
    with application:
        found = ask(world, which, application, kind, DUMP, bytes(1))
        assert [each[0] for each in found] == [answer] * count + [DONE]


def test_one_interface_by_name(world: Fake) -> None:
    which, application = new_of(world, NetlinkSocket, family=16)
    name = struct.pack("=HH", 4 + 5, 3) + b"eth0\0" + bytes(3)
    with application:
        found = ask(world, which, application, GETLINK, ACK, bytes(16) + name)
        assert [each[0] for each in found] == [NEWLINK, ERROR] and error_of(found[1][1]) == 0
        found = ask(world, which, application, GETLINK, 0, bytes(16) + name.replace(b"eth0", b"eth9"))
        assert [each[0] for each in found] == [ERROR] and error_of(found[0][1]) == errno.ENODEV


def test_a_route_to_an_address(world: Fake) -> None:
    which, application = new_of(world, NetlinkSocket, family=16)
    with application:
        for target, code in ((H1, None), (b"\x0a\x09\x09\x09", errno.ENETUNREACH), (b"bad", errno.EINVAL)):
            attribute = struct.pack("=HH", 4 + len(target), 1) + target
            found = ask(world, which, application, GETROUTE, 0, bytes(12) + attribute)
            assert found[0][0] == (NEWROUTE if code is None else ERROR)
            assert code is None or error_of(found[0][1]) == code


def test_nothing_can_be_changed(world: Fake) -> None:
    which, application = new_of(world, NetlinkSocket, family=16)
    with application:
        found = ask(world, which, application, NEWLINK, 0, bytes(16))
        assert error_of(found[0][1]) == errno.EPERM


def test_broken_requests_are_not_answered(world: Fake) -> None:
    which, application = new_of(world, NetlinkSocket, family=16)
    with application:
        for broken in (b"x", HEADER.pack(8, GETLINK, REQUEST, 1, 0), HEADER.pack(900, GETLINK, REQUEST, 1, 0)):
            application.send(broken)
            world.kernel.netlink.take(which)
        with pytest.raises(BlockingIOError):
            application.recv(1)
