"""The network with a clock of its own: models against their formulas, arrivals, changes, ends."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.network.engine import FlowEngine, FlowState
from rsg_server.network.models import Model, cm02, lv08, smpi, without_sharing
from rsg_server.platform.link import Link, Route, SharingPolicy

UP, DOWN = Link("UP", 125e6, 50e-6), Link("DOWN", 125e6, 50e-6)
FAR = Link("FAR", 1.25e9, 0.1)
ROUTES = {
    ("A", "B"): Route((UP,)),
    ("B", "A"): Route((DOWN,)),
    ("A", "C"): Route((FAR,)),
    ("C", "A"): Route((FAR,)),
    ("A", "A"): Route(()),
}


def engine(model: Model, compatible: bool = False, **routes: Route) -> FlowEngine:
    return FlowEngine(lambda source, destination: ROUTES[source, destination], model, compatible)


def finish(model: Model, *sizes: float, source: str = "A", destination: str = "B", **options: float) -> list[float]:
    on = engine(model)
    flows = [on.start(source, destination, size, 0.0, **options) for size in sizes]
    assert on.advance(math.inf) == len(sizes)
    return [on.finish_s(flow) for flow in flows]


def test_a_lone_flow_of_each_model() -> None:
    assert finish(lv08(), 1e8) == pytest.approx([13.01 * 50e-6 + 1e8 / (0.97 * 125e6)], rel=1e-12)
    assert finish(cm02(), 1e8) == pytest.approx([50e-6 + 0.8], rel=1e-12)
    assert finish(smpi(), 1e8) == pytest.approx([11.6436 * 50e-6 + 1e8 / (0.940694 * 125e6)], rel=1e-12)
    assert finish(without_sharing(), 1e8, 1e8) == pytest.approx([50e-6 + 0.8] * 2, rel=1e-12)


def test_the_window_bounds_a_fast_route_of_high_latency() -> None:
    for model, factor in ((lv08(), 13.01), (cm02(), 1)):
        assert finish(model, 1e8, destination="C") == pytest.approx([factor * 0.1 + 1e8 / (4194304 / 0.2)], rel=1e-12)


def test_a_rate_is_a_bound_on_bytes_and_the_rest_is_for_others() -> None:
    on = engine(lv08())
    slow, fast = on.start("A", "B", 1e8, 0.0, rate=20e6), on.start("A", "B", 1e8, 0.0)
    on.advance(0.5)
    assert on.rate(slow) == pytest.approx(20e6)
    assert on.rate(fast) == pytest.approx(0.97 * 125e6 - 20e6)


def test_a_weight_makes_many_count_as_one() -> None:
    """Four flows of weight 1/4 together get what one ordinary flow gets."""
    on = engine(cm02())
    quarters = [on.start("A", "B", 1e8, 0.0, weight=0.25) for _ in range(4)]
    whole = on.start("A", "B", 1e8, 0.0)
    on.advance(0.5)
    assert [on.rate(flow) for flow in (*quarters, whole)] == pytest.approx([125e6 / 8] * 4 + [125e6 / 2])


def test_a_message_without_bytes_takes_the_latency() -> None:
    assert finish(cm02(), 0) == [50e-6]


def test_a_host_talks_to_itself_over_simgrids_loopback() -> None:
    assert finish(cm02(), 1e9, 1e9, destination="A") == pytest.approx([0.1, 0.1])


def test_flows_of_one_instant_end_alike() -> None:
    assert len(set(finish(lv08(), *[1e6] * 7))) == 1


def test_latency_that_falls_away_later_counts_for_what_is_under_way() -> None:
    """Both flows move at half speed once the link has been halved, and from then on share what it is."""
    on = engine(cm02())
    flow = on.start("A", "B", 125e6, 0.0)
    on.advance(0.5)
    on.change("bandwidth", UP, 62.5e6)
    on.advance(math.inf)
    assert on.finish_s(flow) == pytest.approx(0.5 + (1 - 0.49995) * 2, rel=1e-12)


@pytest.mark.parametrize(("compatible", "expected"), [(True, 4.00005), (False, 1.6 + 50e-6)])
def test_a_bound_is_frozen_as_in_simgrid_only_in_its_mode(compatible: bool, expected: float) -> None:
    """A flow that begins on a link of 25 MB/s, which has 125 MB/s again after 1 s."""
    on = engine(cm02(), compatible)
    on.change("bandwidth", UP, 25e6)
    flow = on.start("A", "B", 1e8, 0.0)
    on.advance(1.0)
    on.change("bandwidth", UP, 125e6)
    on.advance(math.inf)
    assert on.finish_s(flow) == pytest.approx(expected, rel=1e-4)


def test_what_flows_over_a_link_that_goes_off_fails_and_so_does_what_begins() -> None:
    on = engine(cm02())
    running, returning = on.start("A", "B", 1e9, 0.0), on.start("B", "A", 1e9, 0.0)
    elsewhere = on.start("A", "C", 10, 0.0)
    on.advance(1.0)
    on.change("state", UP, 0)
    late = on.start("A", "B", 10, 2.0)
    again = on.start("A", "B", 10, 4.0)
    on.advance(3.0)
    on.change("state", UP, 1)
    on.advance(math.inf)
    assert [on.state(flow) for flow in (running, returning, late)] == [FlowState.FAILED] * 3
    assert [on.finish_s(flow) for flow in (running, returning, late)] == [1.0, 1.0, 2.0]
    assert on.state(elsewhere) is on.state(again) is FlowState.DONE


def test_cancelling_gives_the_rest_to_others() -> None:
    on = engine(cm02())
    first, second = on.start("A", "B", 125e6, 0.0), on.start("A", "B", 125e6, 0.0)
    on.advance(1.0)
    on.cancel(first)
    on.cancel(first)
    assert on.remaining_bytes(first) == pytest.approx(125e6 - 62.5e6 * (1 - 50e-6))
    on.advance(math.inf)
    assert on.state(first) is FlowState.CANCELLED
    assert on.finish_s(second) == pytest.approx(1.5 + 25e-6)


def test_nothing_is_due_on_a_link_without_bandwidth() -> None:
    on = engine(cm02())
    flow = on.start("A", "B", 1e6, 0.0)
    on.advance(0.001)
    on.change("bandwidth", UP, 0.0)
    assert on.next_s == math.inf
    on.advance(math.inf)
    assert (on.state(flow), on.finish_s(flow)) == (FlowState.MOVING, math.inf)


@given(st.lists(st.tuples(st.integers(1, 10**8), st.floats(0, 2)), min_size=1, max_size=12))
def test_no_byte_is_lost_or_early(flows: list[tuple[int, float]]) -> None:
    """Nobody is faster than alone, all are done when the link could have moved everything one after the other."""
    on = engine(cm02())
    numbers = [on.start("A", "B", size, start) for size, start in flows]
    on.advance(math.inf)
    last = max(start for _, start in flows) + 50e-6 + sum(size for size, _ in flows) / 125e6
    for number, (size, start) in zip(numbers, flows, strict=True):
        assert start + 50e-6 + size / 125e6 <= on.finish_s(number) * (1 + 1e-12) <= last * (1 + 1e-9)


# Settings


def test_a_fat_pipe_is_no_bottleneck_for_many() -> None:
    wide = Route((Link("P", 1e6, 0.0, SharingPolicy.FATPIPE),))
    on = FlowEngine(lambda source, destination: wide, lv08())
    flows = [on.start("A", "B", 1e6, 0.0) for _ in range(5)]
    on.advance(math.inf)
    assert [on.finish_s(flow) for flow in flows] == pytest.approx([1 / 0.97] * 5)
