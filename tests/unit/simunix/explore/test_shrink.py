"""Delta debugging finds a part of which nothing can be left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simunix.explore.shrink import shrink


@given(st.integers(1, 60), st.sets(st.integers(0, 59), min_size=1, max_size=4))
def test_only_what_is_needed_stays(size: int, needed: set[int]) -> None:
    needed = {number % size for number in needed}
    asked = []

    def holds(candidates: list[list[int]]) -> list[int] | None:
        asked.append(len(candidates))
        return next((each for each in candidates if needed <= set(each)), None)

    assert set(shrink(range(size), holds)) == needed


def test_nothing_is_needed() -> None:
    assert shrink([1, 2, 3], lambda candidates: candidates[0]) == []


def test_what_drops_more_than_it_was_asked_to_counts() -> None:
    def holds(candidates: list[list[int]]) -> list[int] | None:
        return next(([3] for each in candidates if 3 in each), None)

    assert shrink(range(8), holds) == [3]


@given(st.integers(0, 20))
def test_without_time_all_stays(size: int) -> None:
    assert shrink(range(size), lambda candidates: None) == list(range(size))
