"""Properties of any flows on any platform, for the engine behind `net solve` and for the network of an emulation."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from rsg_server.clock.timeline import Timeline
from rsg_server.network.engine import FlowEngine, FlowState
from rsg_server.network.models import ACKNOWLEDGEMENTS, Model, cm02, lv08, raw
from rsg_server.network.network import Network
from rsg_server.platform.link import Link, Route, SharingPolicy
from rsg_server.platform.platform import Platform
from tests.unit.rsg_server.platform.test_topologies import dragonflies, fat_trees, tori

platforms = st.one_of(fat_trees(), tori(), dragonflies())
models = st.sampled_from([lv08(), cm02(), raw()])
CLOSE = 1e-9
Flows = list[tuple[str, str, float]]


@st.composite
def traffic(draw: st.DrawFn) -> tuple[Platform, Flows]:
    """A platform and up to a dozen flows between its hosts."""
    platform = draw(platforms)
    names = st.sampled_from([host.name for host in platform.hosts])
    sizes = st.integers(1, 10**9).map(float)
    return platform, draw(st.lists(st.tuples(names, names, sizes), min_size=1, max_size=12))


def routes(platform: Platform, wider: str = "", times: float = 1.0) -> Callable[[str, str], Route]:
    """The platform's, with one link of more capacity, if one is named."""

    def find(source: str, destination: str) -> Route:
        route = platform.route(platform.host_by_name(source), platform.host_by_name(destination))
        links = [
            replace(link, bandwidth_bytes_per_s=link.bandwidth_bytes_per_s * times) if link.name == wider else link
            for link in route.links
        ]
        return Route(tuple(links), route.distance_s)

    return find


def started(find: Callable[[str, str], Route], model: Model, flows: Flows) -> tuple[FlowEngine, list[int]]:
    """All of them at once, and past their latencies."""
    engine = FlowEngine(find, model)
    numbers = [engine.start(source, destination, size, 0.0) for source, destination, size in flows]
    latest = max(model.latency_factor.of(size) * find(source, destination).latency_s for source, destination, size in flows)
    engine.advance(latest + 1e-9)
    return engine, numbers


def loads(find: Callable[[str, str], Route], model: Model, flows: Flows, rates: Sequence[float]) -> dict[Link, float]:
    """What each shared link carries; acknowledgements included, before the bandwidth factor."""
    found: dict[Link, float] = {}
    for (source, destination, size), rate in zip(flows, rates, strict=True):
        share = rate / model.bandwidth_factor.of(size)
        ways = [(find(source, destination), 1.0)]
        if model.cross_traffic and source != destination:
            ways.append((find(destination, source), ACKNOWLEDGEMENTS))
        for route, weight in ways:
            for link in route.links:
                if link.policy is SharingPolicy.SHARED:
                    found[link] = found.get(link, 0.0) + weight * share
    return found


@given(traffic(), models)
def test_no_link_of_a_platform_carries_more_than_it_can_at_any_time(case: tuple[Platform, Flows], model: Model) -> None:
    platform, flows = case
    find = routes(platform)
    engine, numbers = started(find, model, flows)
    while engine.unfinished:
        moving = [place for place, number in enumerate(numbers) if engine.state(number) is FlowState.MOVING]
        rates = [engine.rate(numbers[place]) for place in moving]
        for link, load in loads(find, model, [flows[place] for place in moving], rates).items():
            assert load <= link.bandwidth_bytes_per_s * (1 + CLOSE)
        engine.advance(engine.next_s)
    assert all(engine.state(number) is FlowState.DONE for number in numbers)


@given(traffic(), models)
def test_every_flow_has_a_bottleneck(case: tuple[Platform, Flows], model: Model) -> None:
    """Max-min optimal: each is at its window, or on a full link on which nobody has more in terms of its penalty."""
    platform, flows = case
    flows = [flow for flow in flows if flow[0] != flow[1]]
    if not flows:
        return
    find = routes(platform)
    engine, numbers = started(find, replace(model, weight_s=0.0), flows)
    moving = [place for place, number in enumerate(numbers) if engine.state(number) is FlowState.MOVING]
    rates = [engine.rate(numbers[place]) for place in moving]
    there = [find(*flows[place][:2]) for place in moving]
    load = loads(find, model, [flows[place] for place in moving], rates)
    for place, route, rate in zip(moving, there, rates, strict=True):
        window = model.tcp_gamma / (2 * route.latency_s) if model.tcp_gamma and route.latency_s else math.inf
        back = find(flows[place][1], flows[place][0]).links if model.cross_traffic else ()
        full = [link for link in {*route.links, *back} if load[link] >= link.bandwidth_bytes_per_s * (1 - CLOSE)]
        rivals = [
            [
                other
                for number, way, other in zip(moving, there, rates, strict=True)
                if link in way.links or (model.cross_traffic and link in find(flows[number][1], flows[number][0]).links)
            ]
            for link in full
        ]
        assert rate >= window * (1 - CLOSE) or any(max(others) <= rate * (1 + CLOSE) for others in rivals)


@given(traffic(), st.sampled_from([cm02(), raw()]), st.data())
def test_more_capacity_never_slows_the_slowest_flow(case: tuple[Platform, Flows], model: Model, data: st.DataObject) -> None:
    platform, flows = case
    name = data.draw(st.sampled_from(sorted(platform.links)))
    before, after = (
        min(engine.rate(number) for number in numbers if engine.state(number) is FlowState.MOVING)
        for engine, numbers in (
            started(routes(platform), model, [(source, destination, 1e12) for source, destination, _ in flows]),
            started(routes(platform, name, 3.0), model, [(source, destination, 1e12) for source, destination, _ in flows]),
        )
    )
    assert after >= before * (1 - CLOSE)


@given(traffic(), models, st.randoms(use_true_random=False))
def test_the_order_of_arrival_in_one_instant_does_not_matter(
    case: tuple[Platform, Flows], model: Model, chance: random.Random
) -> None:
    platform, flows = case
    order = chance.sample(range(len(flows)), len(flows))
    finishes = []
    for places in (range(len(flows)), order):
        engine = FlowEngine(routes(platform), model)
        numbers = {place: engine.start(*flows[place], 0.0) for place in places}
        engine.advance(math.inf)
        finishes.append([engine.finish_s(numbers[place]) for place in range(len(flows))])
    assert all(math.isclose(one, other, rel_tol=CLOSE) for one, other in zip(*finishes, strict=True))


class Clock:
    """Moves when the timeline says so."""

    now_ns = 0


def arrivals(platform: Platform, model: Model, flows: Flows, places: Sequence[int]) -> list[int]:
    """Connections of an emulation that begin to send in one instant, in such an order: when each has arrived."""
    clock, timeline, arrived = Clock(), Timeline(), [0] * len(flows)
    network = Network(clock, timeline, platform, model)
    for place in places:
        source, destination = (platform.host_by_name(name) for name in flows[place][:2])

        def note(place: int = place) -> None:
            arrived[place] = clock.now_ns

        size = int(flows[place][2]) % 1_000_000 + 1
        network.open_flow(source, destination, lambda data, note=note: note()).send(bytes(size))
    while (due := timeline.next_ns) is not None:
        clock.now_ns = due
        timeline.run_due(due)
    return arrived


@settings(max_examples=50)
@given(traffic(), models, st.randoms(use_true_random=False))
def test_nor_does_it_in_an_emulation(case: tuple[Platform, Flows], model: Model, chance: random.Random) -> None:
    """To some nanoseconds: each change of a rate rounds a moment up."""
    platform, flows = case
    order = chance.sample(range(len(flows)), len(flows))
    for one, other in zip(*(arrivals(platform, model, flows, places) for places in (range(len(flows)), order)), strict=True):
        assert abs(one - other) <= 10 + 1e-9 * one
