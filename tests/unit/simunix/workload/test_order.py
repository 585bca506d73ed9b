"""Which jobs are submitted after which others: by fields 17 and 18, and by users who wait for their results."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.workload.job import Job
from simunix.workload.transforms.order import by_feedback, by_preceding_job


def job(number: int, submit_s: float = 0, runtime_s: float = 10, **others: float) -> Job:
    return Job(number, submit_s, runtime_s, runtime_s, 1, **others)  # type: ignore[arg-type]


def test_a_job_follows_its_preceding_one() -> None:
    jobs = [
        job(1),
        job(2, preceding=1, think_s=30),
        job(3, preceding=1),
        job(4, preceding=77),
        job(5, preceding=3, think_s=2.5),
    ]
    order = by_preceding_job(jobs)
    assert order.groups == ((1,), (3,))
    assert order.after == {2: (0, 30.0), 3: (0, 0.0), 5: (1, 2.5)}


def test_jobs_in_a_circle_are_named() -> None:
    for circle in ([job(4, preceding=4)], [job(1, preceding=3), job(2, preceding=1), job(3, preceding=2)]):
        with pytest.raises(SimunixError, match=r"job \d: its preceding job \(field 17\)"):
            by_preceding_job(circle)


def test_batches_and_sessions_of_a_user() -> None:
    """Two jobs at once, a third when both are done and 5 s have passed, the next an hour later; another user in between."""
    jobs = [
        job(1, 0, 100, user=1, wait_s=20),
        job(2, 50, 10, user=1, wait_s=0),
        job(3, 60, 10, user=2),
        job(4, 125, 10, user=1),
        job(5, 130, 1000, user=1),
        job(6, 5000, 10, user=1),
        job(7, 5001, 10, user=-1),
    ]
    session = by_feedback(jobs)
    assert session.groups == ((1, 2),)
    assert session.after == {4: (0, 5.0), 5: (0, 10.0)}
    whole = by_feedback(jobs, inf)
    assert whole.groups == ((1, 2), (4, 5))
    assert whole.after == {**session.after, 6: (1, 5000.0 - 1130.0)}


jobs_of_users = st.lists(
    st.tuples(st.integers(0, 1000), st.integers(0, 300), st.integers(0, 100), st.integers(-1, 3)), max_size=25
).map(lambda rows: [job(index + 1, s, r, wait_s=w, user=u) for index, (s, r, w, u) in enumerate(rows)])


@given(jobs_of_users, st.one_of(st.just(inf), st.integers(0, 500)))
def test_a_machine_that_does_as_the_trace_gets_its_jobs_as_in_the_trace(jobs: list[Job], gap_s: float) -> None:
    order = by_feedback(jobs, gap_s)
    by_id = {each.id: each for each in jobs}
    for number, (group, think_s) in order.after.items():
        end_s = max(each.submit_s + each.wait_s + each.runtime_s for each in map(by_id.get, order.groups[group]) if each)
        assert by_id[number].submit_s == end_s + think_s
        assert think_s >= 0
        assert {by_id[other].user for other in order.groups[group]} == {by_id[number].user}
