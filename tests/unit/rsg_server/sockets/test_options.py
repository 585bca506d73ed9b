"""Options of sockets: what they are before they are set, and what they may be set to."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from rsg_server.sockets import options
from rsg_server.sockets.kinds.datagram import UdpSocket
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import SimulatedSocket, SocketState
from rsg_server.wiring import surroundings_of
from tests.needs import needs_root
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import connected, listening, new, new_of

KEEPIDLE, NODELAY, CONGESTION, TTL = (6, 4), (6, 1), (6, 13), (0, 2)


def number(value: int) -> bytes:
    return struct.pack("=i", value)


@pytest.mark.parametrize(
    ("key", "unset", "good", "bad"),
    [
        (KEEPIDLE, 7200, [1, 32767], [0, 32768]),
        (TTL, 64, [0, 255], [-2, 256]),
        ((6, 8), 60, [-5, 1 << 30], []),
        ((1, 49), -1, [3], []),
    ],
)
def test_numbers_have_a_default_and_a_range(
    world: Fake, key: tuple[int, int], unset: int, good: list[int], bad: list[int]
) -> None:
    which, application = new(world)
    with application:
        assert options.get(surroundings_of(world.kernel), which, key) == number(unset)
        for value in good:
            assert options.put(surroundings_of(world.kernel), which, key, number(value)) == 0
            assert options.get(surroundings_of(world.kernel), which, key) == number(value)
        for value in bad:
            assert options.put(surroundings_of(world.kernel), which, key, number(value)) == errno.EINVAL
        assert options.get(surroundings_of(world.kernel), which, key) == number(good[-1])


def test_minus_one_is_the_default_again(world: Fake) -> None:
    which, application = new(world)
    with application:
        assert (
            options.put(surroundings_of(world.kernel), which, TTL, number(9))
            == 0
            == options.put(surroundings_of(world.kernel), which, TTL, number(-1))
        )
        assert options.get(surroundings_of(world.kernel), which, TTL) == number(64)


def test_a_flag_is_0_or_1(world: Fake) -> None:
    which, application = new(world)
    with application:
        assert options.put(surroundings_of(world.kernel), which, NODELAY, number(77)) == 0
        assert options.get(surroundings_of(world.kernel), which, NODELAY) == number(1)


def test_one_byte_is_enough_at_the_ip_level_only(world: Fake) -> None:
    which, application = new(world)
    with application:
        assert options.put(surroundings_of(world.kernel), which, TTL, b"\7") == 0
        assert options.get(surroundings_of(world.kernel), which, TTL) == number(7)
        assert options.put(surroundings_of(world.kernel), which, NODELAY, b"\1") == errno.EINVAL


@pytest.mark.parametrize(
    ("kind", "family", "key", "code"),
    [
        (StreamSocket, 4, (17, 1), errno.EOPNOTSUPP),  # a level of UDP
        (StreamSocket, 6, (17, 1), errno.ENOPROTOOPT),
        (UdpSocket, 4, (41, 26), errno.EOPNOTSUPP),
        (StreamSocket, 4, (6, 46), errno.ENOPROTOOPT),  # beyond the last TCP option
        (StreamSocket, 4, (1, 16), errno.EOPNOTSUPP),  # SO_PASSCRED
        (StreamSocket, 4, (1, 26), errno.ENOPROTOOPT),  # SO_ATTACH_FILTER
        (UdpSocket, 4, (0, 35), errno.ENOPROTOOPT),  # IP_ADD_MEMBERSHIP, which can be set only
    ],
)
def test_what_cannot_be_read(world: Fake, kind: type[SimulatedSocket], family: int, key: tuple[int, int], code: int) -> None:
    which, application = new_of(world, kind, "h0", family)
    with application:
        assert options.get(surroundings_of(world.kernel), which, key) == code


def test_only_known_algorithms_of_congestion_control(world: Fake) -> None:
    which, application = new(world)
    with application:
        assert options.get(surroundings_of(world.kernel), which, CONGESTION) == b"cubic".ljust(16, b"\0")
        assert options.put(surroundings_of(world.kernel), which, CONGESTION, b"bbr") == errno.ENOENT
        assert options.put(surroundings_of(world.kernel), which, CONGESTION, b"reno") == 0
        assert options.get(surroundings_of(world.kernel), which, CONGESTION) == b"reno".ljust(16, b"\0")


def test_only_devices_that_the_host_has(world: Fake) -> None:
    which, application = new(world)
    with application:
        assert options.put(surroundings_of(world.kernel), which, (1, 25), b"eth0\0") == 0
        assert options.put(surroundings_of(world.kernel), which, (1, 25), b"wlan0\0") == errno.ENODEV


def test_facts_about_a_socket(world: Fake) -> None:
    listener = listening(world)
    stream, application = new(world)
    other, far = new_of(world, UdpSocket, family=6)
    with application, far:

        def fact(which: object, option: int) -> int:
            found = options.get(surroundings_of(world.kernel), which, (1, option))  # type: ignore[arg-type]
            assert isinstance(found, bytes)
            return int(struct.unpack("=i", found)[0])

        for which, facts in (
            (stream, (socket.SOCK_STREAM, 0, socket.IPPROTO_TCP, socket.AF_INET)),
            (listener, (socket.SOCK_STREAM, 1, socket.IPPROTO_TCP, socket.AF_INET)),
            (other, (socket.SOCK_DGRAM, 0, socket.IPPROTO_UDP, socket.AF_INET6)),
        ):
            assert tuple(fact(which, option) for option in (3, 30, 38, 39)) == facts


def test_so_error_is_told_once(world: Fake) -> None:
    which, application = new(world)
    with application:
        which.error = errno.ECONNREFUSED
        assert options.get(surroundings_of(world.kernel), which, (1, 4)) == number(errno.ECONNREFUSED)
        assert options.get(surroundings_of(world.kernel), which, (1, 4)) == number(0)


def test_the_peer_s_name_and_the_segment_size_need_a_peer(world: Fake) -> None:
    alone, third = new(world)
    client, application, _, other = connected(world)
    with application, other, third:
        assert options.get(surroundings_of(world.kernel), alone, (1, 28)) == errno.ENOTCONN
        assert options.get(surroundings_of(world.kernel), alone, (0, 14)) == errno.ENOTCONN
        assert options.get(surroundings_of(world.kernel), alone, (6, 2)) == number(536)
        assert options.get(surroundings_of(world.kernel), client, (6, 2)) == number(1448)
        assert options.get(surroundings_of(world.kernel), client, (0, 14)) == number(1500)
        name = options.get(surroundings_of(world.kernel), client, (1, 28))
        assert isinstance(name, bytes) and name[4:8] == bytes([10, 0, 0, 2])


def test_tcp_info_tells_state_and_bytes(world: Fake) -> None:
    client, application, _, other = connected(world)
    with application, other:
        found = options.get(surroundings_of(world.kernel), client, (6, 11))
        assert isinstance(found, bytes) and found[0] == 1
        client.fin.is_sent = True
        found = options.get(surroundings_of(world.kernel), client, (6, 11))
        assert isinstance(found, bytes) and found[0] == 5
        client.state = SocketState.CLOSED
        found = options.get(surroundings_of(world.kernel), client, (6, 11))
        assert isinstance(found, bytes) and found[0] == 7


@needs_root("only root forces buffers (SO_SNDBUFFORCE)")
def test_forced_buffers_widen_the_window_where_both_sides_force_them(world: Fake) -> None:
    client, application, served, other = connected(world)
    with application, other:
        assert options.put(surroundings_of(world.kernel), client, (1, 32), number(1 << 20)) == 0
        assert client.buffer_bytes == 0
        assert options.put(surroundings_of(world.kernel), served, (1, 33), number(1 << 30)) == 0
        assert client.buffer_bytes == 1 << 20
