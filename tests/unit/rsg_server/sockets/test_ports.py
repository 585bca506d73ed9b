"""Which addresses are equal, and which sockets may share a port."""

from __future__ import annotations

import pytest

from rsg_server.sockets import ports
from rsg_server.sockets.kinds.datagram import UdpSocket
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import Address, SimulatedSocket, SocketState
from rsg_server.sockets.ports import ANY, MAPPED, HostPorts
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import H0, H1

ON = b"\1\0\0\0"
ADDR, PORT, V6ONLY = (1, 2), (1, 15), (41, 26)


def made(
    world: Fake, kind: type[SimulatedSocket] = StreamSocket, family: int = 4, ip: bytes = H0, *options: tuple[int, int]
) -> SimulatedSocket:
    which = world.kernel.sockets.create(world.kernel.hosts["h0"], family, kind)
    which.local = Address(ip, 5000)
    which.options.update(dict.fromkeys(options, ON))
    return which


@pytest.mark.parametrize(
    ("ip", "family", "shown"),
    [(H0, 4, H0), (H0, 6, MAPPED + H0), (MAPPED + H0, 4, H0), (ANY[6], 6, ANY[6])],
)
def test_an_address_has_a_form_in_each_family(ip: bytes, family: int, shown: bytes) -> None:
    assert ports.in_family(ip, family) == shown


def test_loopback_is_a_whole_network_of_ipv4() -> None:
    assert ports.is_loopback(b"\x7f\1\2\3") and ports.is_loopback(bytes(15) + b"\1")
    assert not ports.is_loopback(H0)


@pytest.mark.parametrize(
    ("kind", "options", "conflicts"),
    [
        (StreamSocket, [], True),
        (StreamSocket, [ADDR], False),
        (StreamSocket, [PORT], False),
        (UdpSocket, [ADDR], False),
        (UdpSocket, [PORT], False),
    ],
)
def test_one_port_is_shared_only_by_sockets_that_both_say_so(
    world: Fake, kind: type[SimulatedSocket], options: list[tuple[int, int]], conflicts: bool
) -> None:
    old, new, other = made(world, kind, 4, H0, *options), made(world, kind, 4, H0, *options), made(world, kind)
    assert ports.conflict(new, H0, old) is conflicts
    assert ports.conflict(other, H0, old)
    assert not ports.conflict(other, H1, old)
    assert ports.conflict(other, ANY[4], old)


def test_a_listener_is_not_shared_by_so_reuseaddr(world: Fake) -> None:
    old, new = made(world, StreamSocket, 4, H0, ADDR), made(world, StreamSocket, 4, H0, ADDR)
    old.state = SocketState.LISTENING
    assert ports.conflict(new, H0, old)


def test_the_ipv6_wildcard_takes_ipv4_too_unless_it_is_told_not_to(world: Fake) -> None:
    both, only = made(world, StreamSocket, 6, ANY[6]), made(world, StreamSocket, 6, ANY[6], V6ONLY)
    new = made(world)
    assert ports.conflict(new, H0, both) and not ports.conflict(new, H0, only)
    assert ports.hears(both, H0) and not ports.hears(only, H0)


def test_ephemeral_ports_ascend_skip_taken_ones_and_wrap_around(world: Fake) -> None:
    taken = HostPorts()
    which = made(world)
    which.local = Address(H0, 32769)
    taken.add(which)
    assert [taken.ephemeral(StreamSocket) for _ in range(2)] == [32768, 32770]
    assert taken.ephemeral(UdpSocket) == 32771
    taken._next_ephemeral = 60999
    assert [taken.ephemeral(StreamSocket) for _ in range(2)] == [60999, 32768]
    taken.remove(which)
    taken.remove(which)
    assert not taken.owners


def test_time_wait_lasts_a_minute_and_yields_to_so_reuseaddr_on_both_sides(world: Fake) -> None:
    taken, plain, reusing = HostPorts(), made(world), made(world, StreamSocket, 4, H0, ADDR)
    taken.begin_time_wait(plain, 0)
    assert taken.is_in_time_wait(reusing, 5000, 59 * 10**9)
    assert not taken.is_in_time_wait(plain, 5000, 60 * 10**9)
    taken.begin_time_wait(reusing, 0)
    assert taken.is_in_time_wait(plain, 5000, 1) and not taken.is_in_time_wait(reusing, 5000, 1)
