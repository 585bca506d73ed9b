"""Weights and quotas of groups of threads, worked out by hand."""

from __future__ import annotations

import pytest

from rsg_server.processor.accounts import Account, shares_of_groups
from rsg_server.processor.shares import Demand
from rsg_server.processor.sharing import Execution, Sharing

FOUR = 0b1111


def thread(count: int = 1, mask: int = FOUR, weight: int = 1024) -> Demand:
    return (weight, mask, count, 1.0)


def test_groups_share_by_their_weights_whatever_their_threads() -> None:
    light, heavy = Account(1, None), Account(2, None, 3 * 1024)
    assert shares_of_groups([thread(4), thread(12)], [light, heavy]) == pytest.approx([1 / 4, 3 / 12])
    assert shares_of_groups([thread(8), thread(8)], [light, heavy]) == pytest.approx([1 / 8, 3 / 8])


def test_a_thread_in_no_group_counts_as_a_group_of_its_weight() -> None:
    group = Account(1, None)
    assert shares_of_groups([thread(1, 1), thread(3, 1)], [None, group]) == pytest.approx([1 / 2, 1 / 6])


def test_weights_count_level_by_level() -> None:
    above = Account(1, None)
    first, second = Account(2, above, 1024), Account(3, above, 3 * 1024)
    rates = shares_of_groups([thread(1, 1), thread(1, 1), thread(1, 1)], [None, first, second])
    assert rates == pytest.approx([1 / 2, 1 / 8, 3 / 8])


def test_a_quota_bounds_a_group_and_the_others_get_the_rest() -> None:
    bounded = Account(1, None, quota=0.25)
    assert shares_of_groups([thread(4), thread(8)], [bounded, None]) == pytest.approx([0.0625, 3.75 / 8])
    assert bounded.is_bounded
    assert shares_of_groups([thread(1)], [bounded]) == pytest.approx([0.25])
    bounded.quota = 2.0
    assert shares_of_groups([thread(1)], [bounded]) == [1.0]
    assert not bounded.is_bounded


def test_a_quota_above_bounds_what_is_below() -> None:
    above = Account(1, None, quota=1.0)
    below = Account(2, above, quota=0.25)
    assert shares_of_groups([thread(1), thread(3)], [below, above]) == pytest.approx([0.25, 0.25])


def test_no_quota_at_all_lets_nothing_run() -> None:
    assert shares_of_groups([thread(2)], [Account(1, None, quota=0.0)]) == [0.0]


def test_executions_of_a_group_end_when_their_shares_say() -> None:
    sharing = Sharing(1, 1e9)
    group = Account(7, None, quota=0.25)
    first, second = Execution("a", 1e9, 1024, 1, group), Execution("b", 1e9, 1024, 1)
    sharing.start(first)
    sharing.start(second)
    assert sharing.until_ns(second) == pytest.approx(1e9 / 0.75)
    sharing.advance(1e9)
    assert (group.active_ns, group.bounded_ns) == (1e9, 1e9)
    group.quota = 1.0
    sharing.share_anew()
    assert sharing.until_ns(first) == pytest.approx(0.75e9 / 0.5)
    sharing.stop(first)
    assert sharing.until_ns(second) == pytest.approx(0.25e9)
