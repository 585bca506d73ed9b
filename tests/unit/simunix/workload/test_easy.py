"""EASY back-filling of a list of processors: worked by hand, and what must hold of every schedule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simunix.workload.transforms.easy import easy_starts

PROCESSORS = 10
Jobs = list[tuple[int, int, int, int]]
"""Submission, run time, how much more was asked for, size."""
JOBS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20), st.integers(0, 20), st.integers(1, PROCESSORS)), max_size=40)


def starts_of(jobs: Jobs, processors: int = PROCESSORS) -> np.ndarray:
    submit, runtime, more, size = np.array(jobs, dtype="int64").reshape(-1, 4).T
    return easy_starts(submit, runtime, runtime + more, size, processors)


def test_a_schedule_by_hand() -> None:
    jobs = [
        (0, 100, 0, 6),
        (1, 50, 0, 8),  # must wait for the first: reserved for 100
        (2, 90, 0, 2),  # over by 92: fits beside, and in time
        (3, 100, 0, 2),  # not over by 100, but the reserved job leaves two processors
        (4, 8, 0, 1),  # nothing is free until 92; over by 100
        (5, 9, 0, 1),  # at 92 it would not be over by 100, and nothing is left beside
    ]
    assert starts_of(jobs).tolist() == [0, 100, 2, 3, 92, 103]


def test_who_ends_early_lets_others_start_early() -> None:
    assert starts_of([(0, 10, 90, 10), (1, 5, 0, 10), (2, 5, 0, 10)]).tolist() == [0, 10, 15]


def test_without_requests_to_trust_nobody_passes() -> None:
    """The small job asks for longer than the gap."""
    assert starts_of([(0, 10, 0, 6), (1, 10, 0, 10), (2, 1, 30, 4)]).tolist() == [0, 10, 20]


def test_order_of_the_columns_does_not_matter() -> None:
    jobs = [(0, 10, 0, 6), (1, 10, 0, 10), (2, 1, 30, 4)]
    assert starts_of(jobs[::-1]).tolist() == starts_of(jobs).tolist()[::-1]


@given(JOBS)
def test_never_more_than_the_machine(jobs: Jobs) -> None:
    starts = starts_of(jobs)
    for moment in starts:
        running = [size for (_, runtime, _, size), start in zip(jobs, starts, strict=True) if start <= moment < start + runtime]
        assert sum(running) <= PROCESSORS


@given(JOBS)
def test_nobody_starts_before_coming_and_only_when_something_happens(jobs: Jobs) -> None:
    starts = starts_of(jobs)
    moments = {job[0] for job in jobs} | {start + job[1] for job, start in zip(jobs, starts, strict=True)}
    assert all(start >= job[0] and start in moments for job, start in zip(jobs, starts, strict=True))


@given(JOBS)
def test_the_first_in_the_queue_never_waits_while_it_fits(jobs: Jobs) -> None:
    """At every moment, who waits and has nobody before him does not fit."""
    starts = starts_of(jobs)
    order = sorted(range(len(jobs)), key=lambda job: (jobs[job][0], job))
    for moment in sorted({float(job[0]) for job in jobs} | set((starts + [job[1] for job in jobs]).tolist())):
        waiting = [job for job in order if jobs[job][0] <= moment < starts[job]]
        if waiting:
            used = sum(job[3] for job, start in zip(jobs, starts, strict=True) if start <= moment < start + job[1])
            assert used + jobs[waiting[0]][3] > PROCESSORS


@given(JOBS)
def test_back_filling_delays_nobody_who_was_first(jobs: Jobs) -> None:
    """With exact requests, whoever was first in the queue starts when he would have without those who came after him."""
    exact = sorted((submit, runtime, 0, size) for submit, runtime, _, size in jobs)
    starts = starts_of(exact)
    for rank in range(len(exact)):
        before = exact[: rank + 1]
        if all(starts[earlier] <= exact[rank][0] for earlier in range(rank)):  # first in the queue as soon as it came
            assert starts[rank] == starts_of(before)[-1]


def test_impossible_jobs() -> None:
    with pytest.raises(ValueError, match="sizes: expected 1 to 10, got 3 to 11"):
        starts_of([(0, 1, 0, 11), (0, 1, 0, 3)])
    with pytest.raises(ValueError, match="at least the run times"):
        starts_of([(0, 5, -1, 1)])
