"""Differences by common seeds: what they are worth, and how seldom chance alone makes one."""

from __future__ import annotations

import itertools
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from simunix.statistics.difference import (
    DIFFERS,
    NO_DIFFERENCE,
    TOO_FEW,
    Difference,
    conclude,
    paired_difference,
    unpaired_difference,
)

FEW = settings(max_examples=40, deadline=None)
RUNS = st.dictionaries(st.integers(0, 20), st.integers(-1000, 1000).map(float), min_size=2, max_size=12)


@FEW
@given(RUNS, RUNS)
def test_a_difference_turns_round_with_its_settings(base: dict[int, float], other: dict[int, float]) -> None:
    there, back = paired_difference(base, other), paired_difference(other, base)
    common = base.keys() & other.keys()
    assert there.interval.count == back.interval.count == len(common)
    if common:
        assert there.interval.mean == pytest.approx(-back.interval.mean)
        assert there.interval.mean == pytest.approx(np.mean([other[key] - base[key] for key in common]))
    if len(common) >= 2:
        assert there.p_value == pytest.approx(back.p_value)


@FEW
@given(RUNS)
def test_nothing_differs_from_itself(runs: dict[int, float]) -> None:
    found = paired_difference(runs, runs)
    assert (found.interval.low, found.interval.high, found.p_value) == (0, 0, 1)
    assert found.verdict == NO_DIFFERENCE


def test_common_seeds_show_what_independent_runs_hide() -> None:
    random = np.random.default_rng(3)
    noise = random.normal(100, 30, size=10)  # what chance does to both settings alike
    base = dict(enumerate(noise))
    other = dict(enumerate(noise + 5 + random.normal(0, 1, size=10)))
    assert paired_difference(base, other).verdict == DIFFERS
    assert paired_difference(base, other).relative == pytest.approx(0.05, abs=0.02)
    assert unpaired_difference(list(base.values()), list(other.values())).verdict == NO_DIFFERENCE


def test_p_values_are_those_of_scipy() -> None:
    random = np.random.default_rng(4)
    first, second = random.normal(size=7), random.normal(1, size=7)
    paired = paired_difference(dict(enumerate(first)), dict(enumerate(second)))
    assert paired.p_value == pytest.approx(stats.ttest_rel(second, first).pvalue)
    assert unpaired_difference(first, second).p_value == pytest.approx(stats.ttest_ind(second, first, equal_var=False).pvalue)


@pytest.mark.parametrize(("base", "other"), [({}, {}), ({1: 2.0}, {1: 3.0}), ({1: 2.0, 2: nan}, {1: 3.0, 2: 4.0})])
def test_one_common_seed_concludes_nothing(base: dict[int, float], other: dict[int, float]) -> None:
    found = paired_difference(base, other)
    assert found.verdict == TOO_FEW and isnan(found.p_value) and isnan(conclude([found])[0].adjusted_p)


def test_runs_without_noise_differ_for_certain() -> None:
    assert paired_difference({1: 2.0, 2: 2.0}, {1: 3.0, 2: 3.0}).verdict == DIFFERS
    assert unpaired_difference([2.0, 2.0], [3.0, 3.0]).verdict == DIFFERS
    assert unpaired_difference([2.0, 2.0], [2.0, 2.0]).verdict == NO_DIFFERENCE


@FEW
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_adjusts_upwards_and_keeps_the_order(p_values: list[float]) -> None:
    interval = paired_difference({1: 0.0, 2: 0.0}, {1: 1.0, 2: 3.0}).interval
    found = conclude([Difference(interval=interval, base=1, p_value=p, is_paired=True) for p in p_values])
    adjusted = [each.adjusted_p for each in found]
    assert all(before <= after <= 1 for before, after in zip(p_values, adjusted, strict=True))
    assert min(adjusted) == pytest.approx(min(1, len(p_values) * min(p_values)))
    ranks = np.argsort(p_values, kind="stable")
    assert all(adjusted[one] <= adjusted[two] for one, two in itertools.pairwise(ranks))
    of_two = [each.adjusted_p for each in conclude(found, tables=2)]
    assert of_two == pytest.approx([min(1, 2 * value) for value in adjusted])


def test_among_many_comparisons_a_chance_hit_is_no_difference() -> None:
    random = np.random.default_rng(8)
    hit = paired_difference(dict.fromkeys(range(10), 0.0), dict(enumerate(0.8 + stats.norm.ppf(np.arange(0.05, 1, 0.1)))))
    assert 0.003 < hit.p_value < 0.05 and not hit.interval.holds_zero
    others = [
        paired_difference(dict.fromkeys(range(10), 0.0), dict(enumerate(random.normal(0, 1, size=10)))) for _ in range(19)
    ]
    assert hit.verdict == DIFFERS and not hit.differs_alone
    among_others = conclude([hit, *others])[0]
    assert among_others.verdict == NO_DIFFERENCE and among_others.differs_alone


def test_a_against_a_tells_a_difference_in_few_tables() -> None:
    """Two equal settings, ten seeds, six metrics of one course, as a sweep's table has them."""
    random = np.random.default_rng(9)
    told = 0
    for _ in range(100):
        course = random.normal(size=(2, 10, 1)) + 0.5 * random.normal(size=(2, 10, 6))
        tables = [[dict(enumerate(course[arm, :, metric])) for metric in range(6)] for arm in range(2)]
        found = conclude([paired_difference(one, two) for one, two in zip(*tables, strict=True)])
        told += any(each.verdict == DIFFERS for each in found)
    assert told <= 7
