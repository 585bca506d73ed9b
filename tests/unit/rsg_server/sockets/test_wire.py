"""Packets between hosts: what arrives, what is lost, and what those who look on are told."""

from __future__ import annotations

from rsg_server.platform.host import Host
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import connected, pass_time

CUT = (frozenset({"h0"}), frozenset({"h1"}))


class Looker:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, int, int, int]] = []

    def moved(self, source: Host, destination: Host, begin_ns: int, end_ns: int, size_bytes: int) -> None:
        self.seen.append((source.name, destination.name, begin_ns, end_ns, size_bytes))


def packet(world: Fake, told: list[str]) -> None:
    hosts = world.kernel.hosts
    world.kernel.wire.packet(hosts["h0"], hosts["h1"], lambda: told.append("arrived"), lambda: told.append("lost"))


def test_a_packet_arrives_after_the_latency(world: Fake) -> None:
    told: list[str] = []
    packet(world, told)
    assert told == []
    pass_time(world)
    hosts = world.kernel.hosts
    assert told == ["arrived"] and world.kernel.now_ns >= world.kernel.wire.latency_ns(hosts["h0"], hosts["h1"])


def test_a_packet_is_lost_where_it_leaves_and_where_it_would_arrive(world: Fake) -> None:
    told: list[str] = []
    world.kernel.wire.reach.cuts.append(CUT)
    packet(world, told)
    assert told == ["lost"]
    world.kernel.wire.reach.cuts.clear()
    packet(world, told)
    world.kernel.wire.reach.off.add("h1")
    pass_time(world)
    assert told == ["lost", "lost"]


def test_a_host_that_is_off_does_not_even_lose_packets(world: Fake) -> None:
    told: list[str] = []
    world.kernel.wire.reach.off.add("h0")
    packet(world, told)
    pass_time(world)
    assert told == []


def test_watchers_are_told_of_the_bytes_of_a_connection_when_they_have_left(world: Fake) -> None:
    _, application, _, other = connected(world)
    looker = Looker()
    world.kernel.wire.watchers.append(looker)
    with application, other:
        sent_ns = world.kernel.now_ns
        application.send(bytes(1000))
        pass_time(world)
        ((source, destination, begin_ns, end_ns, size_bytes),) = looker.seen
        assert (source, destination, begin_ns, size_bytes) == ("h0", "h1", sent_ns, 1000)
        assert sent_ns < end_ns < world.kernel.now_ns
