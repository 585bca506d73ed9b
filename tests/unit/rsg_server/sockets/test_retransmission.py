"""Lost bytes are sent again as TCP does, until they arrive or the time for this is over."""

from __future__ import annotations

import errno

import pytest

from rsg_server.sockets.pair import SocketState
from rsg_server.sockets.retransmission import RETRIES, RTO_MAX_NS, RTO_MIN_NS, user_timeout_ns
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import connected, pass_time

SECOND_NS = 10**9
CUT = (frozenset({"h0"}), frozenset({"h1"}))


def test_what_is_lost_arrives_in_order_once_the_way_is_free(world: Fake) -> None:
    client, application, _, other = connected(world)
    with application, other:
        world.kernel.wire.reach.cuts.append(CUT)
        cut_ns = world.kernel.now_ns
        for piece in (b"one ", b"two ", b"three"):
            application.send(piece)
            world.wake_ready()
        pass_time(world, until_ns=cut_ns + SECOND_NS)
        assert client.flow is not None and client.flow.is_retrying and client.flow.in_flight_bytes == 13
        world.kernel.wire.reach.cuts.clear()
        application.send(b" four")
        pass_time(world)
        assert other.recv(100) == b"one two three four"
        assert not client.flow.is_retrying and client.flow.in_flight_bytes == 0


def test_a_lost_fin_is_sent_again(world: Fake) -> None:
    _, application, _, other = connected(world)
    with other:
        world.kernel.wire.reach.cuts.append(CUT)
        application.send(b"last")
        application.close()
        pass_time(world, until_ns=world.kernel.now_ns + SECOND_NS)
        world.kernel.wire.reach.cuts.clear()
        pass_time(world)
        assert (other.recv(10), other.recv(10)) == (b"last", b"")


def test_the_sender_gives_up_after_924_6_seconds(world: Fake) -> None:
    """tcp_retries2 (tcp(7)): each timeout is twice the one before, up to 120 s."""
    client, application, _, other = connected(world)
    with application, other:
        world.kernel.wire.reach.cuts.append(CUT)
        begun_ns = world.kernel.now_ns
        application.send(b"x")
        pass_time(world)
        assert client.state is SocketState.CLOSED and client.error == errno.ETIMEDOUT
        expected_ns = sum(min(RTO_MIN_NS << retry, RTO_MAX_NS) for retry in range(RETRIES + 1))
        assert expected_ns == 924.6 * SECOND_NS
        assert abs(world.kernel.now_ns - begun_ns - expected_ns) < 2 * SECOND_NS  # round trips come on top


@pytest.mark.parametrize("limit_ms", [1000, 30_000])
def test_tcp_user_timeout_is_kept_to_the_point(world: Fake, limit_ms: int) -> None:
    client, application, _, other = connected(world)
    with application, other:
        client.options[6, 18] = limit_ms.to_bytes(4, "little")
        assert user_timeout_ns(client) == limit_ms * 10**6
        world.kernel.wire.reach.cuts.append(CUT)
        begun_ns = world.kernel.now_ns
        application.send(b"x")
        pass_time(world)
        assert client.error == errno.ETIMEDOUT
        assert 0 <= world.kernel.now_ns - begun_ns - limit_ms * 10**6 < SECOND_NS // 10


def test_a_host_that_has_been_started_anew_answers_with_a_reset(world: Fake) -> None:
    client, application, _, other = connected(world)
    with application, other:
        world.kernel.sockets.lose_host(world.kernel.hosts["h1"])
        application.send(b"do you remember me?")
        pass_time(world)
        assert client.state is SocketState.CLOSED
        assert "connection_lost" not in world.kernel.log.counts  # a reset is no time-out


def test_a_lost_reset_takes_with_it_all_that_was_lost_before(world: Fake) -> None:
    client, application, served, other = connected(world)
    with application, other:
        world.kernel.wire.reach.cuts.append(CUT)
        application.send(b"lost")
        pass_time(world, until_ns=world.kernel.now_ns + SECOND_NS // 10)
        assert client.flow is not None and client.flow.is_retrying
        world.kernel.sockets.streams.reset(served)
        assert client.flow.is_cancelled and client.flow.in_flight_bytes == 0
        world.kernel.wire.reach.cuts.clear()
        pass_time(world)
        assert served.state is SocketState.CONNECTED
