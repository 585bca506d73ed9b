"""A meter is the sum over intervals; an interval that is divided, and what happens in no time, change nothing."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.energy.meter import NS, Meter

STEPS = st.lists(st.tuples(st.integers(0, 10**12), st.sampled_from([0.0, 14.0, 117.0, 130.5, 358.0])), max_size=30).map(sorted)


def metered(first: float, steps: list[tuple[int, float]]) -> Meter:
    meter = Meter(first)
    for moment_ns, watts in steps:
        meter.change(moment_ns, watts)
    return meter


@given(STEPS, st.integers(0, 10**12))
def test_sum_over_intervals(steps: list[tuple[int, float]], end_ns: int) -> None:
    points = [(0, 5.0), *steps, (10**12, 0.0)]
    total = sum(
        watts * (min(until_ns, end_ns) - from_ns) / NS
        for (from_ns, watts), (until_ns, _) in itertools.pairwise(points)
        if from_ns < end_ns
    )
    assert metered(5.0, steps).joules(end_ns) == pytest.approx(total, rel=1e-12, abs=1e-9)


@given(STEPS, st.lists(st.integers(0, 10**12), max_size=30))
def test_an_interval_that_is_divided_changes_not_one_bit(steps: list[tuple[int, float]], cuts: list[int]) -> None:
    meter, divided = metered(5.0, steps), Meter(5.0)
    for moment_ns, watts in sorted([*steps, *((cut, None) for cut in cuts)], key=lambda each: each[0]):
        divided.change(moment_ns, divided.watts if watts is None else watts)
    assert [divided.joules(moment) for moment in range(0, 10**12, 10**11)] == [
        meter.joules(moment) for moment in range(0, 10**12, 10**11)
    ]


def test_what_is_taken_back_at_once_leaves_no_trace() -> None:
    meter = metered(1.0, [(NS, 7.0), (NS, 1.0), (2 * NS, 1.0), (3 * NS, 2.0)])
    assert meter.joules(3 * NS) == 3.0 and meter.joules(4 * NS) == 5.0
    assert (meter.watts_before(0), meter.watts_before(3 * NS), meter.watts_before(3 * NS + 1)) == (1.0, 1.0, 2.0)
