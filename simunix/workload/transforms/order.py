"""Which jobs are submitted only after others have ended: from the trace's own fields, or from how its users behaved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rsg_server.errors import SimunixError
from simunix.workload.job import Job

SESSION_GAP_S = 20 * 60.0
"""A longer think time ends a session, unless a scenario says otherwise."""


@dataclass(frozen=True, slots=True)
class Order:
    """`after` by job: an index of `groups` and a think time in seconds. Submit it so long after all of the group have ended.

    Jobs that it does not name are submitted at their own moments.
    """

    groups: tuple[tuple[int, ...], ...] = ()
    after: dict[int, tuple[int, float]] = field(default_factory=dict)


def preceding_jobs(jobs: Sequence[Job]) -> dict[int, int]:
    """Field 17 of the jobs whose preceding job is in the workload too. Raises SimunixError for who would wait for himself."""
    known = {job.id for job in jobs}
    preceding = {job.id: job.preceding for job in jobs if job.preceding in known and job.preceding > 0}
    sound: set[int] = set()
    for start in preceding:
        trail: dict[int, None] = {}
        job: int | None = start
        while job is not None and job not in sound:
            if job in trail:
                raise SimunixError(f"job {job}: its preceding job (field 17) comes after it in the end; mend the trace")
            trail[job] = None
            job = preceding.get(job)
        sound.update(trail)
    return preceding


def by_preceding_job(jobs: Sequence[Job]) -> Order:
    """Fields 17 and 18 of the Standard Workload Format: submitted think-time seconds after the preceding job has ended.

    An unknown think time is none. Who follows a job that is not in the workload is submitted at its own moment.
    """
    preceding = preceding_jobs(jobs)
    groups = {number: index for index, number in enumerate(dict.fromkeys(preceding.values()))}
    after = {job.id: (groups[preceding[job.id]], max(job.think_s, 0.0)) for job in jobs if job.id in preceding}
    return Order(tuple((number,) for number in groups), after)


# Feedback


@dataclass(slots=True)
class _Batch:
    """Jobs of a user that were submitted without waiting for each other's ends. `think_s` is since the end of those before."""

    begin_s: float
    end_s: float
    think_s: float
    jobs: list[Job]


def end_s(job: Job) -> float:
    """When it ended in the trace; an unknown wait is none."""
    return job.submit_s + max(job.wait_s, 0.0) + job.runtime_s


def batches_of(jobs: Iterable[Job]) -> list[_Batch]:
    """A user's jobs, in the order of their submission, cut where one was submitted after all earlier ones had ended."""
    batches: list[_Batch] = []
    for job in jobs:
        if batches and job.submit_s < batches[-1].end_s:
            batches[-1].jobs.append(job)
            batches[-1].end_s = max(batches[-1].end_s, end_s(job))
        else:
            think_s = job.submit_s - batches[-1].end_s if batches else 0.0
            batches.append(_Batch(job.submit_s, end_s(job), think_s, [job]))
    return batches


def by_feedback(jobs: Sequence[Job], gap_s: float = SESSION_GAP_S) -> Order:
    """Users who wait for their results, as in the trace: batch after batch within a session.

    All jobs of a batch follow the end of the whole batch before it by the trace's own think time, and each other as in the
    trace. A think time above `gap_s` begins a session, whose first batch comes at its own moment (infinity: each user is one
    session). Jobs of unknown users are submitted at their own moments. Sessions, and think times between the end of a batch and
    the next, are those of Zakay, Feitelson: Preserving user behavior characteristics in trace-based simulation of parallel job
    scheduling, MASCOTS 2014; where exactly a batch is cut is our own reading.
    """
    users: dict[int, list[Job]] = {}
    for job in sorted(jobs, key=lambda job: job.submit_s):
        if job.user >= 0:
            users.setdefault(job.user, []).append(job)
    groups: list[tuple[int, ...]] = []
    after: dict[int, tuple[int, float]] = {}
    for user in sorted(users):
        batches = batches_of(users[user])
        for earlier, batch in pairwise(batches):
            if batch.think_s > gap_s:
                continue
            groups.append(tuple(job.id for job in earlier.jobs))
            for job in batch.jobs:
                after[job.id] = (len(groups) - 1, batch.think_s + job.submit_s - batch.begin_s)
    return Order(tuple(groups), after)
