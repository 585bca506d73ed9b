"""Intervals of means hold the true mean as often as they say, and do what arithmetic demands."""

from __future__ import annotations

from math import inf, isnan, nan, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from simunix.statistics.interval import BOOTSTRAP, STUDENT, mean_interval

VALUES = st.lists(st.floats(-1e9, 1e9).map(lambda value: round(value, 3)), min_size=2, max_size=12)
FEW = settings(max_examples=40, deadline=None)


@FEW
@given(VALUES)
def test_an_interval_holds_its_mean_and_does_not_depend_on_the_order(values: list[float]) -> None:
    found = mean_interval(values)
    slack = 1e-9 * max(map(abs, values), default=0)
    assert found.low - slack <= found.mean <= found.high + slack
    assert found.mean == pytest.approx(np.mean(values), rel=1e-9, abs=1e-9)
    assert found.width >= 0 and found.count == len(values)


@FEW
@given(VALUES, st.floats(-1e6, 1e6), st.floats(0.01, 100))
def test_shift_and_scale_move_the_interval_alike(values: list[float], shift: float, scale: float) -> None:
    assume(np.ptp(values) > 1e-3 * (1 + max(map(abs, values))))
    plain = mean_interval(values)
    moved = mean_interval([scale * value + shift for value in values])
    slack = 1e-7 * (abs(shift) + scale * max(map(abs, values)))
    assert moved.low == pytest.approx(scale * plain.low + shift, abs=slack)
    assert moved.high == pytest.approx(scale * plain.high + shift, abs=slack)


@pytest.mark.parametrize("values", [[], [7.0], [7.0, nan], [inf, nan]])
def test_below_two_values_there_is_no_interval(values: list[float]) -> None:
    found = mean_interval(values)
    assert isnan(found.low) and isnan(found.high) and not found.method and found.holds_zero
    assert found.count == sum(value == 7.0 for value in values)


def test_equal_values_have_an_interval_without_width() -> None:
    found = mean_interval([0.1] * 7)
    assert (found.low, found.mean, found.high, found.relative_width) == (0.1, 0.1, 0.1, 0)


def test_few_values_have_students_interval() -> None:
    values = [1.0, 2.0, 4.0]
    found = mean_interval(values)
    half = 4.302653 * np.std(values, ddof=1) / sqrt(3)  # the quantile from a printed table
    assert found.method == STUDENT and found.high - found.mean == pytest.approx(half, rel=1e-6)


def test_the_same_values_have_the_same_interval() -> None:
    values = list(np.random.default_rng(5).lognormal(size=10))
    assert mean_interval(values) == mean_interval(values) and mean_interval(values).method == BOOTSTRAP


@pytest.mark.parametrize(("count", "least"), [(3, 0.92), (6, 0.90), (10, 0.91)])
def test_an_interval_holds_the_true_mean_as_often_as_it_says(count: int, least: float) -> None:
    random = np.random.default_rng(count)
    samples = random.normal(10, 3, size=(200, count))
    held = sum(found.low <= 10 <= found.high for found in map(mean_interval, samples))
    assert least <= held / len(samples) < 0.99


def test_the_plain_bootstrap_would_not() -> None:
    random = np.random.default_rng(3)
    samples = random.normal(10, 3, size=(100, 3))
    plain = [
        stats.bootstrap((each,), np.mean, n_resamples=499, method="percentile", random_state=random).confidence_interval
        for each in samples
    ]
    assert sum(each.low <= 10 <= each.high for each in plain) < 88


def test_a_confidence_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence: expected a number between 0 and 1, got 95"):
        mean_interval([1.0, 2.0], 95)
