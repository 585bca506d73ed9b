"""shares: against progressive filling over every set of cores, in exact fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.processor.shares import SETS_MAX, WEIGHTS, Demand, shares, weight

CORES = 4
DEMANDS = st.lists(
    st.tuples(
        st.sampled_from([15, 335, 1024, 3121, 88761]),
        st.integers(1, 2**CORES - 1),
        st.integers(1, 5),
        st.sampled_from([1.0, 1.0, 0.5, 0.125]),
    ),
    min_size=1,
    max_size=6,
)


def reference(demands: list[Demand], cores: int) -> list[Fraction]:
    """Raise the level of all that are not fixed until a set of cores is full, whichever; every set is looked at."""
    rates: dict[int, Fraction] = {}
    sets = [
        sum(1 << core for core in chosen) for n in range(1, cores + 1) for chosen in itertools.combinations(range(cores), n)
    ]
    while len(rates) < len(demands):
        found: list[tuple[Fraction, int]] = []
        for allowed in sets:
            inside = [index for index, (_, mask, *_) in enumerate(demands) if not mask & ~allowed]
            room = allowed.bit_count() - sum(rates[index] * demands[index][2] for index in inside if index in rates)
            rising = [demands[index] for index in inside if index not in rates]
            if rising and sum(count * most for _, _, count, most in rising) > room:
                found.append((level(rising, Fraction(room)), allowed))
        if not found:
            return [rates.get(index, Fraction(demand[3])) for index, demand in enumerate(demands)]
        height, full = min(found)
        for index, (each, mask, _, most) in enumerate(demands):
            if index not in rates and not mask & ~full:
                rates[index] = min(Fraction(most), Fraction(each) * height)
    return [rates[index] for index in range(len(demands))]


def level(rising: list[Demand], room: Fraction) -> Fraction:
    """Try each number of threads that have their most."""
    threads = sorted(((Fraction(most), Fraction(each)) for each, _, count, most in rising for _ in range(count)), key=_limit)
    for whole in range(len(threads)):
        height = (room - sum(most for most, _ in threads[:whole])) / sum(each for _, each in threads[whole:])
        if threads[whole][1] * height <= threads[whole][0]:
            return height
    raise AssertionError("there is room for all")


def _limit(thread: tuple[Fraction, Fraction]) -> Fraction:
    return thread[0] / thread[1]


@given(DEMANDS)
def test_as_progressive_filling(demands: list[Demand]) -> None:
    for rate, expected in zip(shares(demands), reference(demands, CORES), strict=True):
        assert rate == pytest.approx(float(expected), rel=1e-12)


@given(DEMANDS)
def test_no_set_of_cores_does_more_than_it_has_and_none_is_idle_that_somebody_wants(demands: list[Demand]) -> None:
    rates = shares(demands)
    for cores in range(1, 2**CORES):
        used = sum(rate * demand[2] for rate, demand in zip(rates, demands, strict=True) if not demand[1] & ~cores)
        assert used <= cores.bit_count() * (1 + 1e-12)
    for rate, (_, mask, _, most) in zip(rates, demands, strict=True):
        if rate < most - 1e-9:  # it could use more: some full set holds all cores that it may use
            assert any(
                not mask & ~cores
                and sum(one * other[2] for one, other in zip(rates, demands, strict=True) if not other[1] & ~cores)
                >= cores.bit_count() * (1 - 1e-9)
                for cores in range(1, 2**CORES)
            )


@given(DEMANDS, st.randoms(use_true_random=False))
def test_the_order_does_not_matter(demands: list[Demand], chance: object) -> None:
    order = list(range(len(demands)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    mixed = shares([demands[index] for index in order])
    assert sorted(mixed) == pytest.approx(sorted(shares(demands)), rel=1e-12)


@pytest.mark.parametrize(
    ("demands", "expected"),
    [
        ([(1024, 0b1, 1, 1.0)], [1.0]),
        ([(1024, 0xFFFF, 64, 1.0)], [0.25]),
        ([(1024, 0b1, 1, 1.0), (15, 0b1, 1, 1.0)], [1024 / 1039, 15 / 1039]),  # nice 0 and nice 19 on one core
        ([(1024, 0b11, 2, 1.0), (335, 0b11, 1, 1.0)], [2048 / 2383, 670 / 2383]),  # … and no one has more than a core
        ([(88761, 0b11, 1, 1.0), (1024, 0b11, 2, 1.0)], [1.0, 0.5]),
        ([(1024, 0b01, 2, 1.0), (1024, 0b11, 1, 1.0)], [0.5, 1.0]),  # two pinned to core 0, the third takes core 1
        ([(1024, 0b01, 1, 1.0), (1024, 0b10, 1, 1.0), (1024, 0b11, 2, 1.0)], [0.5, 0.5, 0.5]),
        ([(1024, 0b001, 1, 1.0), (1024, 0b011, 2, 1.0), (1024, 0b110, 2, 1.0)], [0.6, 0.6, 0.6]),  # a chain
        ([(1024, 0b1, 1, 1.0), (1024, 0b1, 1, 0.2)], [0.8, 0.2]),  # one is bounded, the other has what is left
        ([(1024, 0b11, 1, 1.0), (4096, 0b11, 3, 0.4)], [0.8, 0.4]),
    ],
)
def test_closed_forms(demands: list[Demand], expected: list[float]) -> None:
    assert shares(demands) == pytest.approx(expected, rel=1e-12)


def test_a_step_of_nice_is_a_quarter_more_or_less() -> None:
    """As nice(2) and sched(7) say; the table is Linux's own."""
    assert (weight(-20), weight(0), weight(19), weight(99)) == (88761, 1024, 15, 15)
    assert all(1.15 < heavier / lighter < 1.35 for heavier, lighter in itertools.pairwise(WEIGHTS))


def test_many_overlapping_masks_never_use_more_cores_than_there_are() -> None:
    masks = [0b11 << place | 0b1 << (place * 7 % 40) for place in range(40)]
    rates = shares([(1024, mask, 3, 1.0) for mask in masks])
    assert sum(rate * 3 for rate in rates) <= 42 + 1e-9
    assert len(set(masks)) < SETS_MAX
