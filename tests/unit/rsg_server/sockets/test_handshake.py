"""Connecting: who answers, when, and what is told to whom."""

from __future__ import annotations

import errno

import pytest

from rsg_server.protocol import Wait, Wake
from rsg_server.sockets.pair import Address, SocketState
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import H1, PORT, connect, connected, listening, new, pass_time

SECOND_NS = 10**9


def test_both_ends_know_each_other(world: Fake) -> None:
    client, application, served, other = connected(world)
    with application, other:
        assert (client.local, client.remote) == (served.remote, served.local)
        assert client.peer is served and served.peer is client
        assert client.state is served.state is SocketState.CONNECTED
        assert world.kernel.log.counts["connect"] == 1


def test_a_connect_takes_a_round_trip_and_the_application_cannot_write_before(world: Fake) -> None:
    listening(world)
    hosts = world.kernel.hosts
    client, application = connect(world)
    with application:
        assert client.events == 0 and client.state is SocketState.CONNECTING
        pass_time(world)
        round_trip_ns = 2 * world.kernel.wire.latency_ns(hosts["h0"], hosts["h1"])
        assert client.state is SocketState.CONNECTED and world.kernel.now_ns >= round_trip_ns
        assert world.kernel.sockets.handshake.outcome(world.born("h0"), client.number) == 0
        assert world.kernel.sockets.handshake.outcome(world.born("h0"), client.number) is None


def test_an_actor_that_waits_is_woken_with_the_outcome(world: Fake) -> None:
    client, application = connect(world)
    with application:
        actor = world.born("h0")
        world.park(actor, Wait.CONNECT, a=client.number)
        pass_time(world, until_ns=SECOND_NS)
        assert actor.reply == (int(Wake.READY), -errno.ECONNREFUSED)
        assert client.attempt.outcome is None and client.state is SocketState.OPEN


def test_a_refused_connect_can_be_tried_again_even_if_nobody_waited_for_it(world: Fake) -> None:
    client, application = connect(world, waits=False)
    handshake = world.kernel.sockets.handshake
    with application:
        pass_time(world)
        assert client.is_broken and client.number in world.kernel.sockets.silent
        target = Address(H1, PORT)
        assert handshake.connect(client, target, True) == errno.ECONNREFUSED
        listening(world)
        assert handshake.connect(client, target, True) == errno.EINPROGRESS
        pass_time(world)
        assert client.state is SocketState.CONNECTED
        assert client.app_end is not None  # to replace the one that shows the error


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (SocketState.CONNECTED, errno.EISCONN),
        (SocketState.LISTENING, errno.EISCONN),
        (SocketState.CONNECTING, errno.EALREADY),
        (SocketState.CLOSED, errno.ECONNABORTED),
    ],
)
def test_a_stream_connects_from_the_open_state_only(world: Fake, state: SocketState, code: int) -> None:
    which, application = new(world)
    with application:
        which.state = state
        assert world.kernel.sockets.handshake.connect(which, Address(H1, PORT), True) == code


def test_a_host_that_does_not_answer_is_asked_seven_times(world: Fake) -> None:
    world.kernel.wire.reach.off.add("h1")
    client, application = connect(world)
    with application:
        pass_time(world)
        assert world.kernel.now_ns == 127 * SECOND_NS
        assert client.attempt.outcome == -errno.ETIMEDOUT


def test_a_full_queue_drops_the_syn_which_is_sent_again(world: Fake) -> None:
    listener = listening(world, backlog=0)
    first, application = connect(world)
    second, other = connect(world)
    with application, other:
        pass_time(world, until_ns=SECOND_NS // 2)
        assert [which.state for which in (first, second)] == [SocketState.CONNECTED, SocketState.CONNECTING]
        accepted = world.kernel.sockets.handshake.accept(listener)
        assert not isinstance(accepted, int)
        world.descriptors.append(accepted[1])
        pass_time(world)
        assert second.state is SocketState.CONNECTED and world.kernel.now_ns >= SECOND_NS


def test_a_listener_has_one_token_for_each_pending_connection(world: Fake) -> None:
    listener = listening(world)
    assert listener.app_end is not None
    clients = [connect(world) for _ in range(2)]
    pass_time(world)
    assert listener.app_end.recv(10) == b"tt" and listener.queue.tokens == 2
    accepted = world.kernel.sockets.handshake.accept(listener)
    assert not isinstance(accepted, int)
    world.descriptors.append(accepted[1])
    assert accepted[0].peer is clients[0][0] and listener.queue.tokens == 1
    for _, application in clients:
        application.close()


def test_accept_without_a_listener_or_a_connection(world: Fake) -> None:
    which, application = new(world)
    with application:
        assert world.kernel.sockets.handshake.accept(which) == errno.EINVAL
        assert world.kernel.sockets.handshake.accept(listening(world)) == errno.EAGAIN


def test_within_a_host_a_connect_takes_no_time(world: Fake) -> None:
    listening(world, "h0")
    client, application = connect(world, b"\x7f\0\0\1")
    with application:
        assert client.state is SocketState.CONNECTED and world.kernel.now_ns == 0


def test_zero_means_the_own_host(world: Fake) -> None:
    listening(world, "h0")
    client, application = connect(world, bytes(4))
    with application:
        assert client.state is SocketState.CONNECTED
        assert str(client.local).startswith("127.0.0.1:")
