"""Draws belong to their names, and have the distributions that they say."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simunix.perturbation.draws import Draws

SEEDS = st.integers(0, 2**63 - 1)


@given(SEEDS, st.text(max_size=20), st.integers())
def test_a_draw_depends_on_seed_kind_and_key_alone(seed: int, kind: str, key: int) -> None:
    draws = Draws(seed, kind)
    first = draws.uniform(key)
    draws.uniform(key + 1)
    assert first == Draws(seed, kind).uniform(key) and 0 < first < 1
    assert first != Draws(seed, f"{kind}'").uniform(key)
    assert first != Draws(seed + 1, kind).uniform(key)


@given(SEEDS, st.integers(), st.floats(0, 1e9), st.floats(0, 2))
def test_times_and_factors_are_never_negative(seed: int, key: int, mean: float, spread: float) -> None:
    draws = Draws(seed, "kind")
    assert draws.exponential(key, mean) >= 0 and draws.factor(key, spread) > 0
    assert math.isfinite(draws.exponential(key, mean)) and math.isfinite(draws.factor(key, spread))


@pytest.mark.parametrize("spread", [0.01, 0.2, 1.0])
def test_distributions(spread: float) -> None:
    draws = Draws(11, "kind")
    factors = [draws.factor(key, spread) for key in range(20_000)]
    assert statistics.fmean(factors) == pytest.approx(1, abs=0.03 * spread)
    assert statistics.stdev(factors) == pytest.approx(spread, rel=0.1)
    times = [draws.exponential(key, 3.0) for key in range(20_000)]
    assert statistics.fmean(times) == pytest.approx(3, rel=0.03) and statistics.stdev(times) == pytest.approx(3, rel=0.05)


def test_a_factor_without_spread_is_one() -> None:
    assert Draws(1, "kind").factor(5, 0.0) == 1.0
