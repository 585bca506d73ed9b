"""Let jobs be submitted only after other jobs have ended: by the trace's own fields, or by the behaviour of its users."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rsg_server.errors import SimunixError
from simunix.workload.job import Job

SESSION_GAP_S = 20 * 60.0
"""The default bound, in seconds, above which a think time (pause between an end and the next submission) ends a session
of a user.
"""


@dataclass(frozen=True, slots=True)
class Order:
    """Which jobs follow which others: `after` maps a job to the index of a group in `groups`, and to a think time in
    seconds.

    A job is submitted its think time after all jobs of the group have ended. A job that is not in `after` is submitted
    at the trace's moment.
    """

    groups: tuple[tuple[int, ...], ...] = ()
    after: dict[int, tuple[int, float]] = field(default_factory=dict)


def preceding_jobs(jobs: Sequence[Job]) -> dict[int, int]:
    """Return the preceding job (field 17) of each job, if the preceding job belongs to the workload.

    Raises SimunixError for a job that would wait, directly or through others, for its own end.
    """
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
    """Return the order by fields 17 and 18 of the Standard Workload Format: preceding job and think time in seconds.

    An unknown think time is taken as 0. A job whose preceding job is not in the workload is submitted at the trace's moment.
    Raises SimunixError for a cycle.
    """
    preceding = preceding_jobs(jobs)
    groups = {number: index for index, number in enumerate(dict.fromkeys(preceding.values()))}
    after = {job.id: (groups[preceding[job.id]], max(job.think_s, 0.0)) for job in jobs if job.id in preceding}
    return Order(tuple((number,) for number in groups), after)


# Feedback


@dataclass(slots=True)
class _Batch:
    """A batch: jobs of one user, none of which was submitted after the end of another one. `think_s` is the time since
    the previous batch ended.
    """

    begin_s: float
    end_s: float
    think_s: float
    jobs: list[Job]


def end_s(job: Job) -> float:
    """Return when a job ended in the trace, in seconds; an unknown wait counts as 0."""
    return job.submit_s + max(job.wait_s, 0.0) + job.runtime_s


def batches_of(jobs: Iterable[Job]) -> list[_Batch]:
    """Split one user's jobs, in the order of submission, into batches: a new batch begins with a job that was submitted
    after all earlier jobs had ended.
    """
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
    """Return the order in which each user waits for results: within a session, batch after batch.

    The first job of a batch follows the end of the whole previous batch by the trace's think time; the distances between the
    jobs of a batch are the trace's. A think time above `gap_s` begins a new session, whose first batch is submitted at the
    trace's moment (with infinity, each user has one session). Jobs of unknown users are submitted at the trace's moments.
    Sessions and think times are those of Zakay, Feitelson: Preserving user behavior characteristics in trace-based simulation
    of parallel job scheduling, MASCOTS 2014; the paper leaves open where exactly a batch is cut, which is decided here.
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
