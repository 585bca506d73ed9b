"""The use of cores, and load averages."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from rsg_server.processor.load import EVERY_NS, FIXED_ONE, Load

S = 10**9
BOTH = 3


def test_a_load_grows_as_linux_says_and_is_gone_in_the_end() -> None:
    load = Load(2)
    load.pass_time(60 * S, 60 * S, 1, ((BOTH, 1.0),))
    for average, minutes in zip(load.averages, (1, 5, 15), strict=True):
        assert abs(average / FIXED_ONE - (1 - math.exp(-1 / minutes))) < 0.01
    load.pass_time(10**6 * S, 10**6 * S, 1, ((BOTH, 1.0),))
    assert load.averages == (FIXED_ONE, FIXED_ONE, FIXED_ONE)
    load.pass_time(10**15 * S, 10**15 * S, 0, ())
    assert load.averages == (0, 0, 0)


@given(st.lists(st.tuples(st.integers(0, 20 * S), st.integers(0, 5)), max_size=20))
def test_looking_in_between_changes_nothing(spans: list[tuple[int, int]]) -> None:
    once, often, now_ns = Load(1), Load(1), 0
    for length_ns, running in spans:
        for part_ns in (length_ns // 3, length_ns - length_ns // 3):
            now_ns += part_ns
            often.pass_time(now_ns, part_ns, running, ())
        once.pass_time(now_ns, length_ns, running, ())
    assert once.averages == often.averages


def test_a_moment_counts_those_who_computed_up_to_it() -> None:
    load = Load(1)
    load.pass_time(EVERY_NS - 1, EVERY_NS - 1, 1, ((1, 1.0),))
    assert load.averages == (0, 0, 0)
    load.pass_time(EVERY_NS, 1, 1, ((1, 1.0),))
    assert load.averages[0] > 0


def test_low_cores_are_busy_first_and_masks_are_kept() -> None:
    load = Load(3)
    load.pass_time(S, S, 2, ((0b111, 1.5), (0b001, 1.0)))
    assert load.busy_ns() == [S, S, S // 2]
