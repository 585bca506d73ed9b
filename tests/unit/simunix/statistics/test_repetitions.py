"""How many repetitions an interval of a given width takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simunix.statistics.interval import mean_interval
from simunix.statistics.repetitions import repetitions_needed


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(1, 1000), min_size=2, max_size=20), st.floats(0.001, 1), st.floats(1, 4))
def test_a_wider_interval_needs_no_more(values: list[float], width: float, factor: float) -> None:
    narrow, wide = repetitions_needed(values, width), repetitions_needed(values, width * factor)
    assert wide is not None or narrow is None
    assert narrow is None or (wide is not None and 2 <= wide <= narrow)


def test_so_many_give_the_width_asked_for() -> None:
    random = np.random.default_rng(6)
    needed = repetitions_needed(random.normal(100, 10, size=200), 0.05)
    assert needed is not None and 55 < needed < 80  # (2 · 1.96 · 10 / 5)² = 61
    assert mean_interval(random.normal(100, 10, size=needed)).relative_width == pytest.approx(0.05, rel=0.25)


def test_values_that_do_not_vary_need_two() -> None:
    assert repetitions_needed([3.0, 3.0, 3.0], 0.01) == 2


@pytest.mark.parametrize("values", [[], [1.0], [float("nan")] * 5, [-1.0, 1.0]])
def test_without_a_spread_or_a_mean_there_is_no_answer(values: list[float]) -> None:
    assert repetitions_needed(values, 0.05) is None


def test_a_width_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"width: expected a part of the mean above 0, such as 0.05, got 0"):
        repetitions_needed([1.0, 2.0], 0)
