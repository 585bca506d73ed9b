"""The network on a star, with a clock that jumps from event to event."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.clock.timeline import Timeline
from rsg_server.network.models import Model, cm02, configured, lv08, raw, without_sharing
from rsg_server.network.network import Network
from rsg_server.network.sharing import WINDOW_BYTES, Fairness
from rsg_server.platform.host import Host
from rsg_server.platform.star import Access, star

HOSTS = [Host(f"h{index}", (ip_address(f"10.0.0.{index + 1}"),)) for index in range(4)]
MS = 10**6
sizes = st.integers(1, 200_000)
accesses = st.builds(Access, st.integers(1_000, 10**10).map(float), st.integers(0, 10 * MS))


class World:
    """Network, timeline and clock; `seen` is what has happened and when."""

    def __init__(self, access: Access | None = None) -> None:
        self.now_ns = 0
        self.timeline = Timeline()
        self.network = Network(self, self.timeline, star(HOSTS, access or Access(1e6, MS)))
        self.seen: list[tuple[int, object]] = []

    def note(self, what: object) -> None:
        self.seen.append((self.now_ns, what))

    def run(self) -> None:
        while (due := self.timeline.next_ns) is not None:
            assert due >= self.now_ns, "an event in the past"
            self.now_ns = due
            self.timeline.run_due(due)


def exact(size_bytes: int, access: Access, share: int = 1) -> int:
    """Moment of arrival in exact arithmetic: both links' latency, then the bytes at a part of the bandwidth."""
    return 2 * access.latency_ns + math.ceil(Fraction(size_bytes * 10**9 * share) / Fraction(access.bandwidth_bytes_per_s))


@given(sizes, accesses)
def test_a_lone_flow_takes_latency_plus_size_over_bandwidth(size: int, access: Access) -> None:
    world = World(access)
    world.network.open_flow(HOSTS[0], HOSTS[1], world.note).send(b"x" * size)
    world.run()
    assert world.seen == [(exact(size, access), b"x" * size)]
    assert world.network.solves == 0, "a flow that is alone needs no solver"


@given(sizes, accesses, st.integers(2, 4), st.sampled_from(["same sender", "same receiver"]))
def test_equal_flows_over_one_link_divide_it(size: int, access: Access, count: int, where: str) -> None:
    world = World(access)
    for index in range(count):
        other = HOSTS[1 + index % 3]
        source, destination = (HOSTS[0], other) if where == "same sender" else (other, HOSTS[0])
        world.network.open_flow(source, destination, world.note).send(b"x" * size)
    world.run()
    assert len(world.seen) == count
    expected = exact(size, access, count)
    assert all(abs(moment - expected) <= 1 + expected * 1e-12 for moment, _ in world.seen)


def test_two_flows_halve_to_the_nanosecond() -> None:
    world = World()
    for source in (0, 1):
        world.network.open_flow(HOSTS[source], HOSTS[2], lambda data: world.note(len(data))).send(b"x" * 1000)
    world.run()
    assert world.seen == [(4 * MS, 1000), (4 * MS, 1000)]


def test_the_directions_of_a_connection_do_not_share() -> None:
    world = World()
    world.network.open_flow(HOSTS[0], HOSTS[1], world.note).send(b"x" * 1000)
    world.network.open_flow(HOSTS[1], HOSTS[0], world.note).send(b"x" * 1000)
    world.run()
    assert [moment for moment, _ in world.seen] == [3 * MS, 3 * MS]
    assert world.network.solves == 0


def test_who_comes_later_takes_its_half_and_who_ends_gives_it_back() -> None:
    """0.5 ms alone (500 bytes), 0.5 ms halved (250 more) until the second has sent its 250; 250 alone."""
    world = World()
    first = world.network.open_flow(HOSTS[0], HOSTS[2], lambda data: world.note("first"))
    second = world.network.open_flow(HOSTS[1], HOSTS[2], lambda data: world.note("second"))
    first.send(b"x" * 1000)
    world.timeline.add(MS // 2, lambda: second.send(b"x" * 250))
    world.run()
    assert world.seen == [(3 * MS, "second"), (3 * MS + MS // 4, "first")]


def test_the_slow_side_of_one_flow_leaves_more_to_its_neighbour() -> None:
    world = World()
    platform = star(HOSTS, Access(1e6, MS), overrides={"h1": Access(1e5, MS)})
    world.network = Network(world, world.timeline, platform)
    world.network.open_flow(HOSTS[0], HOSTS[1], lambda data: world.note("slow")).send(b"x" * 1000)
    world.network.open_flow(HOSTS[0], HOSTS[2], lambda data: world.note("fast")).send(b"x" * 900)
    world.run()
    assert world.seen == [(3 * MS, "fast"), (12 * MS, "slow")]


parts = st.lists(st.binary(max_size=50), max_size=8)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, MS), parts), min_size=1, max_size=6))
def test_bytes_arrive_once_and_in_order_and_then_the_end(flows: list[tuple[int, int, int, list[bytes]]]) -> None:
    """Whatever else shares the links; and never faster than a flow that is alone."""
    world, ends = World(), list[tuple[int, int]]()
    received = [bytearray() for _ in flows]

    def start(index: int, source: int, destination: int, pieces: list[bytes]) -> None:
        flow = world.network.open_flow(HOSTS[source], HOSTS[destination], received[index].extend)
        for piece in pieces:
            flow.send(piece)
        flow.finish(lambda: ends.append((index, len(received[index]))))
        assert flow.in_flight_bytes == sum(map(len, pieces))

    for index, (source, destination, at_ns, pieces) in enumerate(flows):
        world.timeline.add(at_ns, lambda arguments=(index, source, destination, pieces): start(*arguments))
    world.run()
    assert [bytes(data) for data in received] == [b"".join(pieces) for *_, pieces in flows]
    assert sorted(ends) == [(index, len(data)) for index, data in enumerate(received)]
    assert world.network.is_idle, "a flow is still on a link"


@given(st.lists(st.tuples(st.integers(0, 1), sizes), min_size=1, max_size=8))
def test_a_shared_link_is_never_idle_while_somebody_sends(flows: list[tuple[int, int]]) -> None:
    """All over h2's down link: the last byte leaves when the sum of all sizes has passed it."""
    world = World()
    for source, size in flows:
        world.network.open_flow(HOSTS[source], HOSTS[2], world.note).send(b"x" * size)
    world.run()
    assert abs(world.now_ns - exact(sum(size for _, size in flows), Access(1e6, MS))) <= len(flows)


@given(sizes, st.integers(0, 30 * MS))
def test_a_cancelled_flow_delivers_nothing_afterwards(size: int, at_ns: int) -> None:
    world = World()
    flow = world.network.open_flow(HOSTS[0], HOSTS[1], world.note)
    flow.send(b"x" * size)
    flow.finish(lambda: world.note("end"))
    world.timeline.add(at_ns, flow.cancel)
    world.run()
    arrival = exact(size, Access(1e6, MS))
    assert [moment for moment, _ in world.seen] == ([arrival, arrival] if arrival < at_ns else [])
    assert flow.in_flight_bytes == 0 and not flow.is_active
    flow.send(b"more")
    world.run()
    assert len(world.seen) in (0, 2)


def test_a_cancelled_flow_frees_its_share() -> None:
    world = World()
    world.network.open_flow(HOSTS[0], HOSTS[2], lambda data: world.note("kept")).send(b"x" * 1000)
    doomed = world.network.open_flow(HOSTS[1], HOSTS[2], world.note)
    doomed.send(b"x" * 1000)
    world.timeline.add(MS, doomed.cancel)
    world.run()
    assert world.seen == [(3 * MS + MS // 2, "kept")]


def test_sending_after_a_cancel_is_not_counted_as_under_way() -> None:
    world = World()
    flow = world.network.open_flow(HOSTS[0], HOSTS[1], world.note)
    flow.cancel()
    flow.send(b"x" * 1000)
    world.run()
    assert (flow.is_active, flow.in_flight_bytes, world.seen) == (False, 0, [])


@given(st.lists(st.tuples(st.integers(0, 3 * MS), st.integers(1, 100_000)), min_size=1, max_size=12))
def test_messages_of_one_pair_keep_their_order(messages: list[tuple[int, int]]) -> None:
    """A small packet does not overtake a big one; none comes before its own time."""
    world = World()
    sent: list[tuple[int, int]] = []

    def post(number: int, size: int) -> None:
        sent.append((number, world.now_ns + exact(size, Access(1e6, MS))))
        world.network.message(HOSTS[0], HOSTS[1], lambda: world.note(number), size)

    for number, (at_ns, size) in enumerate(messages):
        world.timeline.add(at_ns, lambda arguments=(number, size): post(*arguments))
    world.run()
    assert [what for _, what in world.seen] == [number for number, _ in sent]
    latest = 0
    for (moment, _), (_, own) in zip(world.seen, sent, strict=True):
        latest = max(latest, own)
        assert moment == latest


def test_messages_do_not_wait_for_those_of_other_pairs() -> None:
    world = World()
    world.network.message(HOSTS[0], HOSTS[1], lambda: world.note("big"), 10_000)
    world.network.message(HOSTS[2], HOSTS[1], lambda: world.note("small"), 1000)
    world.network.message(HOSTS[3], HOSTS[3], lambda: world.note("self"), 1000)
    world.run()
    assert world.seen == [(5_100, "self"), (3 * MS, "small"), (12 * MS, "big")]


def test_what_has_been_sent_is_counted() -> None:
    world = World()
    flow = world.network.open_flow(HOSTS[0], HOSTS[1], world.note)
    flow.send(b"x" * 1000)
    world.network.message(HOSTS[0], HOSTS[1], lambda: None, 64)
    flow.cancel()
    flow.send(b"x")
    assert world.network.bytes_sent == 1064


def test_flows_of_one_host_to_itself_do_not_slow_each_other_down() -> None:
    world = World()
    for _ in range(3):
        world.network.open_flow(HOSTS[0], HOSTS[0], lambda data: world.note(len(data))).send(b"x" * 10_000)
    world.run()
    assert world.seen == [(6_000, 10_000)] * 3


def modelled(model: Model, fairness: Fairness = Fairness.CONNECTION) -> World:
    world = World()
    world.network = Network(world, world.timeline, star(HOSTS, Access(1e6, MS)), model, fairness)
    return world


def send(world: World, source: int, destination: int, size: int) -> None:
    flow = world.network.open_flow(HOSTS[source], HOSTS[destination], lambda data: world.note((source, destination)))
    flow.send(b"x" * size)


def test_lv08_leaves_room_for_headers_and_does_not_stretch_the_latency() -> None:
    world = modelled(lv08())
    send(world, 0, 1, 970)
    world.run()
    assert world.seen == [(3 * MS, (0, 1))]
    assert world.network.solves == 0


def test_acknowledgements_take_a_part_of_the_other_direction() -> None:
    """1000 bytes each way: x + 0.05 x on each link."""
    world = modelled(cm02())
    send(world, 0, 1, 1000)
    send(world, 1, 0, 1000)
    world.run()
    assert all(0 <= moment - 2 * MS - 1_050_000 <= 1 for moment, _ in world.seen)
    assert world.network.solves > 0


def test_the_window_bounds_a_flow_that_is_alone() -> None:
    world = modelled(configured(cm02(), {"network/TCP-gamma": "400"}))
    send(world, 0, 1, 1000)
    world.run()
    assert world.seen == [(2 * MS + 10 * MS, (0, 1))]


def test_nobody_shares_in_the_constant_model() -> None:
    world = modelled(without_sharing())
    for source in (0, 1, 3):
        send(world, source, 2, 1000)
    world.run()
    assert [moment for moment, _ in world.seen] == [3 * MS] * 3
    assert world.network.solves == 0


def test_all_flows_of_two_hosts_may_count_as_one() -> None:
    """Three flows of one host and one of another: the half for the single one, and all the rest later."""
    world = modelled(raw(), Fairness.HOSTS)
    for _ in range(3):
        send(world, 0, 2, 1000)
    send(world, 1, 2, 1000)
    world.run()
    assert world.seen[0] == (4 * MS, (1, 2))
    assert all(abs(moment - 6 * MS) <= 2 for moment, _ in world.seen[1:])


@pytest.mark.parametrize("others", [0, 1])
def test_a_link_that_changes_moves_who_is_on_it_to_another_rate(others: int) -> None:
    """Half of the time as before, then ten times as slow."""
    world = modelled(raw())
    for _ in range(1 + others):
        send(world, 0, 1, 1000)
    world.timeline.add((1 + others) * MS // 2, lambda: world.network.set_link("h0_UP", bandwidth_bytes_per_s=1e5))
    world.run()
    assert all(abs(moment - 2 * MS - (1 + others) * (MS // 2 + 5 * MS)) <= 1 for moment, _ in world.seen)


def test_a_link_without_bandwidth_holds_its_flows_until_it_has_some() -> None:
    world = modelled(raw())
    send(world, 0, 1, 1000)
    world.timeline.add(MS // 2, lambda: world.network.set_link("h0_UP", bandwidth_bytes_per_s=0.0))
    world.timeline.add(9 * MS, lambda: world.network.set_link("h0_UP", bandwidth_bytes_per_s=1e6))
    world.run()
    assert world.seen == [(2 * MS + 9 * MS + MS // 2, (0, 1))]


def test_the_window_of_a_connection_grows_with_its_route() -> None:
    world = modelled(raw())
    flow = world.network.open_flow(HOSTS[0], HOSTS[1], world.note)
    assert flow.window_bytes == WINDOW_BYTES + 4_000


models = st.sampled_from([lv08, cm02, raw, without_sharing])


@given(models, st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 9 * MS), sizes), min_size=1, max_size=8))
def test_every_model_delivers_everything_and_forgets_its_flows(
    model: Callable[[], Model], flows: list[tuple[int, int, int, int]]
) -> None:
    world = modelled(model())
    for source, destination, at_ns, size in flows:
        world.timeline.add(at_ns, lambda arguments=(source, destination, size): send(world, *arguments))
    world.run()
    assert sorted(what for _, what in world.seen) == sorted((source, destination) for source, destination, _, _ in flows)
    assert world.network.is_idle


def test_flows_that_begin_and_end_together_cost_one_call_of_the_solver_each_time() -> None:
    world = World()
    for _ in range(50):
        for source in (0, 1):
            send(world, source, 2, 100)
    world.run()
    assert {moment for moment, _ in world.seen} == {12 * MS} and len(world.seen) == 100
    assert world.network.solves == 1, "when all have ended, there is nothing to share"


def test_flows_of_other_moments_call_the_solver_again() -> None:
    world = World()
    for index in range(5):
        world.timeline.add(index * 1000, lambda: send(world, 0, 2, 1000))
    world.run()
    assert world.network.solves == 4 + 4, "each but the first comes, and each but the last goes, to change the others' rates"


def test_who_leaves_at_the_moment_at_which_others_come_has_no_part_in_their_rates() -> None:
    world = World()
    gone = world.network.open_flow(HOSTS[1], HOSTS[2], world.note)
    gone.send(b"x" * 1000)
    send(world, 0, 2, 1000)
    gone.cancel()
    world.run()
    assert world.seen == [(3 * MS, (0, 2))]
