"""Numbers of sockets: who may name them, and when they are forgotten."""

from __future__ import annotations

import select

from rsg_server.sockets.pair import READ_EVENTS, SocketState
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import connect, connected, listening, new, pass_time


def test_the_shim_finds_the_number_in_the_name_of_the_peer(world: Fake) -> None:
    made, application = new(world)
    with application:
        name = application.getpeername()
        assert name.startswith(f"\0simunix:s:{made.number:08x}:".encode())


def test_only_a_host_s_own_actors_can_name_a_socket(world: Fake) -> None:
    made, application = new(world, "h0")
    with application:
        assert world.kernel.sockets.of(world.born("h0"), made.number) is made
        assert world.kernel.sockets.of(world.born("h1"), made.number) is None
        assert world.kernel.sockets.of(world.born("h0"), made.number + 1) is None


def test_a_socket_that_its_application_closes_is_forgotten(world: Fake) -> None:
    made, application = new(world)
    application.close()
    pass_time(world)
    assert made.number not in world.kernel.sockets.all
    assert made.is_broken and made.state is SocketState.CLOSED


def test_a_close_is_noticed_before_the_epoll_tells(world: Fake) -> None:
    made, application = new(world)
    assert not world.kernel.sockets.is_abandoned(made)
    application.close()
    assert world.kernel.sockets.is_abandoned(made)


def test_a_reset_socket_is_known_until_its_application_closes_it(world: Fake) -> None:
    table = world.kernel.sockets
    client, application, served, other = connected(world)
    table.streams.reset(client)
    pass_time(world)
    assert client.number in table.silent and client.number in table.all
    application.close()
    table._sweep_at = 1
    with new(world)[1], other:
        assert client.number not in table.all
        assert served.number in table.all


def test_what_is_watched_follows_from_room(world: Fake) -> None:
    client, application, served, other = connected(world)
    with application, other:
        assert client.events == READ_EVENTS
        served.undelivered += b"waits"
        world.kernel.sockets.set_events(served)
        assert served.events == READ_EVENTS | select.EPOLLOUT
        served.undelivered += bytes(1 << 26)
        world.kernel.sockets.set_events(client)
        assert client.events == 0
        served.undelivered.clear()


def test_a_host_that_loses_power_loses_its_sockets_only(world: Fake) -> None:
    client, application, served, other = connected(world)
    with application, other:
        world.kernel.sockets.lose_host(world.kernel.hosts["h1"])
        assert list(world.kernel.sockets.all) == [client.number]
        assert served.vanished and other.recv(1) == b""
        assert client.state is SocketState.CONNECTED
        assert not world.kernel.sockets.binding.ports_of(served.host).owners


def test_pending_connections_are_reset_with_their_listener(world: Fake) -> None:
    listener = listening(world)
    client, application = connect(world)
    pass_time(world)
    assert client.state is SocketState.CONNECTED
    world.kernel.sockets.closed_by_application(listener)
    pass_time(world)
    assert client.state is SocketState.CLOSED
    application.close()
