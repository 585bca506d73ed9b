"""Datagrams on their way: they take time on their links, share them with connections, and wait or are lost if too many."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.network.datagram_queue import QUEUE_BYTES, SMALL_BYTES, SPARE_BURST_BYTES, SPARE_PART, DatagramQueue
from rsg_server.network.models import configured, lv08, without_sharing
from rsg_server.network.network import Network
from rsg_server.platform.link import Route
from rsg_server.platform.platform import Platform
from rsg_server.platform.star import Access, star
from tests.unit.rsg_server.network.test_network import HOSTS, MS, World, accesses, exact, modelled, send, sizes

S = 10**9


def post(world: World, source: int, destination: int, size: int, what: object = None) -> DatagramQueue:
    """Send a datagram; `seen` tells when it arrives."""
    network, name = world.network, size if what is None else what
    network.datagram(HOSTS[source], HOSTS[destination], lambda: world.note(name), size, lambda began_ns: None)
    return network.datagrams(HOSTS[source], HOSTS[destination])


@given(sizes, accesses)
def test_one_alone_takes_latency_and_its_size_over_the_narrowest_link(size: int, access: Access) -> None:
    world = World(access)
    post(world, 0, 1, size)
    world.run()
    assert world.seen == [(exact(size, access), size)]
    assert world.network.solves == 0


def test_those_of_a_pair_leave_one_after_the_other_without_the_solver() -> None:
    world = World()
    for _ in range(3):
        queue = post(world, 0, 1, 1000)
    assert queue.queued_bytes == 3000
    world.run()
    assert [moment for moment, _ in world.seen] == [3 * MS, 4 * MS, 5 * MS]
    assert (world.network.solves, queue.queued_bytes, world.network.is_idle) == (0, 0, True)


def test_lv08_bounds_them_by_the_link_alone() -> None:
    """Neither 97 % nor a window, however long the route; and nothing comes back that would take from others."""
    world = modelled(configured(lv08(), {"network/TCP-gamma": "1000", "network/crosstraffic": "0"}))
    post(world, 0, 1, 50_000)
    post(world, 1, 0, 50_000)
    world.run()
    assert world.seen == [(2 * MS + 50 * MS, 50_000)] * 2


def test_nobody_shares_in_the_constant_model() -> None:
    world = modelled(without_sharing())
    for source in (0, 2, 3):
        post(world, source, 1, 10_000)
    world.run()
    assert [moment for moment, _ in world.seen] == [12 * MS] * 3


datagrams = st.lists(
    st.tuples(st.integers(0, 20 * MS), st.sampled_from([0, 2, 3]), st.integers(29, 65_535)), min_size=1, max_size=12
)


@given(datagrams, st.booleans())
def test_they_never_exceed_a_link_but_for_a_hundredth_of_small_ones(
    sent: list[tuple[int, int, int]], beside_a_flow: bool
) -> None:
    """By the time at which each arrives, no more has arrived than the receiver's link can have carried."""
    world = World()
    if beside_a_flow:
        world.network.open_flow(HOSTS[2], HOSTS[1], lambda data: world.note(len(data))).send(bytes(200_000))
    for at_ns, source, size in sent:
        world.timeline.add(at_ns, lambda it=(source, 1, size): post(world, *it))  # type: ignore[misc]
    world.run()
    begin_ns = 0 if beside_a_flow else min(at_ns for at_ns, _, _ in sent)
    small = sum(size for _, _, size in sent if size <= SMALL_BYTES)
    arrived = 0
    for moment, size in world.seen:
        assert isinstance(size, int)
        arrived += size
        lasted_s = (moment - 2 * MS - begin_ns) / S
        spare = min(small, SPARE_BURST_BYTES + SMALL_BYTES + 1e6 * SPARE_PART * lasted_s)
        assert arrived <= 1e6 * lasted_s + spare + 1


@given(datagrams)
def test_those_of_a_pair_keep_their_order_big_and_small(sent: list[tuple[int, int, int]]) -> None:
    world = World()
    send(world, 3, 1, 30_000)
    for number, (at_ns, source, size) in enumerate(sorted(sent, key=lambda it: it[0])):
        world.timeline.add(at_ns, lambda it=(source, 1, size, (source, number, size)): post(world, *it))  # type: ignore[misc]
    world.run()
    for pair in (0, 2, 3):
        numbers = [what[1] for _, what in world.seen if isinstance(what, tuple) and len(what) == 3 and what[0] == pair]
        assert numbers == sorted(numbers)


def test_a_flood_and_a_connection_have_half_of_their_link_each() -> None:
    world = World()
    send(world, 0, 2, 50_000)
    for _ in range(5):
        post(world, 1, 2, 10_000)
    world.run()
    assert world.seen[-1][0] == pytest.approx(2 * MS + 100 * MS, abs=10)
    assert [moment for moment, what in world.seen if what == 10_000] == pytest.approx(
        [2 * MS + number * 20 * MS for number in range(1, 6)], abs=10
    )


def test_a_few_small_ones_beside_a_connection_do_not_share_anew() -> None:
    world = World()
    send(world, 0, 2, 500_000)
    for number in range(20):
        world.timeline.add(number * 20 * MS, lambda: post(world, 1, 2, 100))
    world.run()
    assert world.network.solves == 0
    assert world.seen[-1] == (2 * MS + 500 * MS, (0, 2))


def test_many_small_ones_beside_a_connection_have_their_share() -> None:
    world = World()
    send(world, 0, 2, 1_000_000)
    for number in range(1000):
        world.timeline.add(number * MS, lambda: post(world, 1, 2, 1000))
    world.run()
    assert world.network.solves > 0
    assert world.seen[-1][0] == pytest.approx(2 * S, rel=0.05)  # both together: 2 MB over 1 MB/s, but for the burst


def narrow_sink() -> World:
    """Host 1 has a link of half the others' rate."""
    world = World()
    platform = star(HOSTS, Access(1e6, MS), Access(1e10, 0), {"h1": Access(5e5, MS)})
    world.network = Network(world, world.timeline, platform)
    return world


def test_a_full_queue_holds_up_whoever_has_the_narrowest_link_itself() -> None:
    own, other = World(), narrow_sink()
    for world, waits in ((own, True), (other, False)):
        while world.network.datagrams(HOSTS[0], HOSTS[1]).has_room(1500):
            queue = post(world, 0, 1, 1500)
        assert QUEUE_BYTES - 1500 < queue.queued_bytes <= QUEUE_BYTES
        assert queue.holds_up_its_sender is waits
    post(own, 2, 1, 60_000)
    assert not own.network.datagrams(HOSTS[0], HOSTS[1]).holds_up_its_sender  # half of the receiver's link is left to it


def test_whatever_its_size_there_is_room_in_an_empty_queue() -> None:
    queue = World().network.datagrams(HOSTS[0], HOSTS[1])
    assert queue.has_room(10 * QUEUE_BYTES)


def test_who_waits_is_told_in_turn_and_nobody_is_forgotten() -> None:
    world = World()
    queue = post(world, 0, 1, 1000)
    post(world, 0, 1, 1000)
    for name in "abc":
        queue.waiting.append(lambda name=name: world.note(name))  # type: ignore[misc]
    world.run()
    assert [it for it in world.seen if isinstance(it[1], str)] == [(MS, "a"), (2 * MS, "b"), (2 * MS, "c")]


def test_a_link_that_changes_changes_what_waits() -> None:
    world = World()
    post(world, 0, 1, 10_000)
    post(world, 0, 1, 10_000)
    world.timeline.add(5 * MS, lambda: world.network.set_link("h0_UP", bandwidth_bytes_per_s=5e5))
    world.run()
    assert [moment for moment, _ in world.seen] == [17 * MS, 37 * MS]


def test_when_it_began_to_leave_is_told() -> None:
    world, began = World(), []
    for _ in range(2):
        world.network.datagram(HOSTS[0], HOSTS[1], lambda: None, 1000, lambda at_ns: began.append((at_ns, world.now_ns)))
    world.run()
    assert began == [(0, MS), (MS, 2 * MS)]


def test_those_of_a_host_to_itself_arrive_together() -> None:
    world = World()
    for _ in range(2):
        assert not post(world, 0, 0, 1000).is_active
    world.run()
    assert world.seen == [(5_100, 1000)] * 2


def test_a_route_without_links_takes_no_time() -> None:
    world = World()
    world.network = Network(world, world.timeline, Platform(HOSTS, lambda source, destination: Route(())))
    assert post(world, 0, 1, 1000).holds_up_its_sender
    world.run()
    assert world.seen == [(0, 1000)]
    assert math.isinf(Route(()).bottleneck_bytes_per_s)
