"""Sharing: completion times against SimGrid's CPU model and against closed forms."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.processor.sharing import NS, Execution, Sharing

FILE = Path(__file__).resolve().parents[3] / "simgrid_reference/executions.json.gz"
Work = tuple[float, float, int, int]
"""start in ns, flops, weight, mask"""


def completions(cores: int, speed_flops: float, works: list[Work]) -> list[float]:
    """When each is done, in ns, with no rounding to whole nanoseconds."""
    sharing = Sharing(cores, speed_flops)
    starts = sorted((work[0], index) for index, work in enumerate(works))
    now, done = 0.0, [0.0] * len(works)
    while True:
        first = sharing.first()
        end = now + sharing.until_ns(first) if first is not None else float("inf")
        if starts and starts[0][0] <= end:
            moment, index = starts.pop(0)
            sharing.advance(moment - now)
            sharing.start(Execution(index, works[index][1], works[index][2], works[index][3] or sharing.every_core))
        elif first is not None:
            moment = end
            sharing.advance(moment - now)
            for execution in sharing.finish(first, slack_ns=1e-6):
                done[execution.owner] = moment  # type: ignore[call-overload]
        else:
            return done
        now = moment


@cache
def cases() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(gzip.decompress(FILE.read_bytes()))
    return found


@pytest.mark.parametrize("number", range(36))
def test_as_simgrid(number: int) -> None:
    case = cases()[number]
    works = [(each["start"] * NS, each["flops"], each["priority"], 0) for each in case["executions"]]
    found = completions(case["cores"], case["speed"], works)
    for moment, each in zip(found, case["executions"], strict=True):
        assert moment / NS == pytest.approx(each["finish"], rel=1e-9, abs=1e-9)


def test_every_case_is_compared() -> None:
    assert len(cases()) == 36


@pytest.mark.parametrize(("threads", "seconds"), [(16, 1), (64, 4), (17, 17 / 16)])
def test_threads_on_sixteen_cores(threads: int, seconds: float) -> None:
    assert completions(16, 1e9, [(0.0, 1e9, 1024, 0)] * threads) == pytest.approx([seconds * NS] * threads, rel=1e-12)


def test_pinned_to_one_core_of_many_they_share_it() -> None:
    works = [(0.0, 1e9, 1024, 0b1), (0.0, 1e9, 1024, 0b1), (0.0, 1e9, 1024, 0)]
    assert completions(4, 1e9, works) == pytest.approx([2 * NS, 2 * NS, NS])


def test_nice_gets_little_while_others_compute_and_all_afterwards() -> None:
    first, second = completions(1, 1e9, [(0.0, 1e9, 1024, 0), (0.0, 1e9, 15, 0)])
    assert first == pytest.approx(NS * 1039 / 1024)
    assert second == pytest.approx(2 * NS)


@given(
    st.integers(1, 4),
    st.lists(
        st.tuples(
            st.integers(0, 3).map(float),
            st.integers(1, 10**9).map(float),
            st.sampled_from([15, 1024, 88761]),
            st.integers(0, 1),
        ),
        min_size=1,
        max_size=8,
    ),
)
def test_no_flop_is_lost_and_none_comes_from_nowhere(cores: int, works: list[Work]) -> None:
    """The work takes no less than all cores need together, and than each piece needs alone; and no more than one core needs."""
    found = completions(cores, 1e9, works)
    assert max(found) >= sum(work[1] for work in works) / cores * (1 - 1e-9)
    for moment, work in zip(found, works, strict=True):
        assert moment >= (work[0] + work[1]) * (1 - 1e-9)
    assert max(found) <= (max(work[0] for work in works) + sum(work[1] for work in works)) * (1 + 1e-9) + 1


def test_the_order_of_insertion_does_not_show_in_the_times() -> None:
    works: list[Work] = [(0.0, 3e8, 1024, 0), (0.0, 5e8, 335, 0b01), (0.0, 7e8, 15, 0b10), (0.0, 2e8, 1024, 0b10)]
    forwards = completions(2, 1e9, works)
    assert completions(2, 1e9, works[::-1])[::-1] == forwards


def test_stopped_it_tells_what_is_left() -> None:
    sharing = Sharing(1, 1e9)
    one, two = Execution("one", 1e9, 1024, 1), Execution("two", 1e9, 1024, 1)
    sharing.start(one)
    sharing.start(two)
    sharing.advance(NS)
    assert sharing.rate_flops(one) == 5e8
    sharing.stop(one)
    assert (one.left, one.runs, sharing.rate_flops(two)) == (5e8, False, 1e9)
    assert repr(one) == "execution of 'one', 500000000 flops left"
