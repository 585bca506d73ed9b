"""Which socket has which address, and which socket receives packets that are sent to an address."""

from __future__ import annotations

import errno

from rsg_server.sockets.kinds.datagram import UdpSocket
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import Address
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import ANY, H0, H1, PORT, connected, listening, new, new_of, pass_time

ON = b"\1\0\0\0"
REUSEPORT = (1, 15)


def test_a_socket_is_bound_once_and_to_an_address_of_its_host(world: Fake) -> None:
    binding = world.kernel.sockets.binding
    first, application = new(world)
    second, other = new(world)
    with application, other:
        assert binding.bind(first, H1, PORT) == errno.EADDRNOTAVAIL
        assert binding.bind(first, H0, PORT) == 0
        assert binding.bind(first, H0, PORT + 1) == errno.EINVAL
        assert binding.bind(second, H0, PORT) == errno.EADDRINUSE
        assert binding.bind(second, H0, 0) == 0
        assert str(second.local) == "10.0.0.1:32768"


def test_a_port_is_free_as_soon_as_its_socket_is_closed(world: Fake) -> None:
    binding = world.kernel.sockets.binding
    first, application = new(world)
    assert binding.bind(first, H0, PORT) == 0
    application.close()
    second, other = new(world)
    with other:
        assert binding.bind(second, H0, PORT) == 0


def test_a_port_stays_in_time_wait_where_the_connection_was_closed_first(world: Fake) -> None:
    client, application, served, other = connected(world)
    assert client.local is not None
    port = client.local.port
    application.close()
    pass_time(world)
    other.close()
    pass_time(world)
    again, third = new(world)
    with third:
        assert world.kernel.sockets.binding.bind(again, H0, port) == errno.EADDRINUSE
        world.kernel.clock.advance_to(world.kernel.now_ns + 60 * 10**9)
        assert world.kernel.sockets.binding.bind(again, H0, port) == 0
    assert served.number not in world.kernel.sockets.all


def test_autobind_takes_the_address_that_leads_to_the_target(world: Fake) -> None:
    far, application = new(world)
    near, other = new(world)
    lost, third = new(world, family=6)
    with application, other, third:
        assert world.kernel.sockets.binding.autobind(far, H1) == 0
        assert world.kernel.sockets.binding.autobind(near, b"\x7f\0\0\1") == 0
        assert [str(which.local) for which in (far, near)] == ["10.0.0.1:32768", "127.0.0.1:32769"]
        assert world.kernel.sockets.binding.autobind(lost, bytes(15) + b"\2") == errno.ENETUNREACH


def test_addresses_mean_hosts(world: Fake) -> None:
    binding, h0, h1 = world.kernel.sockets.binding, world.kernel.hosts["h0"], world.kernel.hosts["h1"]
    assert binding.host_of(h0, H1) is h1
    assert binding.host_of(h1, b"\x7f\0\0\1") is h1
    assert binding.host_of(h1, b"\x0a\x09\x09\x09") is None


def test_the_most_closely_bound_socket_receives(world: Fake) -> None:
    binding, h0 = world.kernel.sockets.binding, world.kernel.hosts["h0"]
    wide, application = new_of(world, UdpSocket)
    close, other = new_of(world, UdpSocket)
    wide.options[REUSEPORT] = ON
    close.options[REUSEPORT] = ON
    with application, other:
        assert binding.bind(wide, ANY, PORT) == 0 == binding.bind(close, H0, PORT)
        assert binding.find(h0, UdpSocket, H0, PORT) is close
        assert binding.find(h0, UdpSocket, b"\x7f\0\0\1", PORT) is wide
        assert binding.find(h0, StreamSocket, H0, PORT) is None


def test_sockets_that_share_a_port_share_the_senders(world: Fake) -> None:
    binding, h0 = world.kernel.sockets.binding, world.kernel.hosts["h0"]
    sharing = [new_of(world, UdpSocket) for _ in range(3)]
    for which, _ in sharing:
        which.options[REUSEPORT] = ON
        assert binding.bind(which, H0, PORT) == 0
    found = [binding.find(h0, UdpSocket, H0, PORT, Address(H1, port)) for port in range(100)]
    assert {which for which, _ in sharing} == set(found)
    assert found == [binding.find(h0, UdpSocket, H0, PORT, Address(H1, port)) for port in range(100)]
    for _, application in sharing:
        application.close()


def test_only_a_listening_stream_is_found(world: Fake) -> None:
    which, application = new(world, "h1")
    with application:
        assert world.kernel.sockets.binding.bind(which, ANY, PORT + 1) == 0
        assert world.kernel.sockets.binding.find(which.host, StreamSocket, H1, PORT + 1) is None
        listener = listening(world)
        assert world.kernel.sockets.binding.find(which.host, StreamSocket, H1, PORT) is listener
