"""SO_KEEPALIVE: a peer that answers no more is given up when Linux would."""

from __future__ import annotations

import errno

from rsg_server.sockets.pair import SimulatedSocket, SocketState
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import connected, pass_time

SECOND_NS = 10**9
IDLE_S, BETWEEN_S, PROBES = 10, 2, 3


def wants_probes(which: SimulatedSocket) -> None:
    for key, value in {(1, 9): 1, (6, 4): IDLE_S, (6, 5): BETWEEN_S, (6, 6): PROBES}.items():
        which.options[key] = value.to_bytes(4, "little")


def test_a_silent_peer_is_given_up_after_idle_time_and_probes(world: Fake) -> None:
    client, application, _, other = connected(world)
    with application, other:
        wants_probes(client)
        world.kernel.wire.reach.off.add("h1")
        world.kernel.faults.keepalive.look()
        pass_time(world)
        assert client.error == errno.ETIMEDOUT
        assert world.kernel.now_ns == client.heard_ns + (IDLE_S + PROBES * BETWEEN_S) * SECOND_NS


def test_nothing_is_reckoned_without_the_option_or_without_a_fault(world: Fake) -> None:
    client, application, served, other = connected(world)
    with application, other:
        wants_probes(client)
        world.kernel.faults.keepalive.look()
        assert world.kernel.timeline.next_ns is None
        world.kernel.wire.reach.off.add("h1")
        world.kernel.faults.keepalive.consider(served)
        assert world.kernel.timeline.next_ns is None


def test_a_peer_that_comes_back_in_time_ends_the_probes(world: Fake) -> None:
    client, application, _, other = connected(world)
    with application, other:
        wants_probes(client)
        world.kernel.wire.reach.off.add("h1")
        world.kernel.faults.keepalive.look()
        pass_time(world, until_ns=client.heard_ns + (IDLE_S + 1) * SECOND_NS)
        world.kernel.wire.reach.off.clear()
        pass_time(world)
        assert client.state is SocketState.CONNECTED and world.kernel.timeline.next_ns is None


def test_a_host_that_was_started_anew_answers_the_probe_with_a_reset(world: Fake) -> None:
    client, application, _, other = connected(world)
    with application, other:
        wants_probes(client)
        world.kernel.sockets.lose_host(world.kernel.hosts["h1"])
        world.kernel.faults.keepalive.look()
        pass_time(world)
        assert client.state is SocketState.CLOSED and client.heard_ns + IDLE_S * SECOND_NS <= world.kernel.now_ns
        assert "connection_lost" not in world.kernel.log.counts
