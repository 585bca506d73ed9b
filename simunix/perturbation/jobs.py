"""Jobs of a workload as another run of a real cluster would have them: submitted and running a little differently."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import replace

from simunix.perturbation.draws import Draws
from simunix.scenario.perturb_section import HISTORY, PerturbSection
from simunix.workload.job import Job

NS = 10**9
UNKNOWN = -1


def perturbed_jobs(
    jobs: Sequence[Job], section: PerturbSection, seed: int, trace: str, settled: Container[int] = ()
) -> list[Job]:
    """Return the jobs in the order of their submission, perturbed as `section` says.

    Draws belong to the name of the trace and the number of a job, so that they do not depend on other jobs; the elements of an
    array and the components of a heterogeneous job, which one command submits, have one draw for their submission. Times in the
    jobs are seconds. Jobs whose numbers are `settled` (those of a context) stay as they are.
    """
    draws = {kind: Draws(seed, f"{kind} {trace}") for kind in ("submission", "run_time", "ties")}
    delayed = [job if job.id in settled else _submitted_later(job, section, draws["submission"]) for job in jobs]
    if section.ties:
        ranks = {job.id: draws["ties"].uniform(_command(job)) for job in jobs if job.id not in settled}
        delayed.sort(key=lambda job: (job.submit_s, ranks.get(job.id, 0.0)))
    else:
        delayed.sort(key=lambda job: job.submit_s)
    if section.run_time == HISTORY:
        return _from_history(delayed, draws["run_time"], settled)
    spread = float(section.run_time)
    return [
        job if job.id in settled or not spread else _runs(job, job.runtime_s * draws["run_time"].factor(job.id, spread))
        for job in delayed
    ]


def _command(job: Job) -> int:
    """The key of the draws for the job's submission: the number of the array or heterogeneous job that it is part of."""
    return job.id if job.request is None else job.request.number


def _submitted_later(job: Job, section: PerturbSection, draws: Draws) -> Job:
    if not section.submission:
        return job
    return replace(job, submit_s=job.submit_s + draws.exponential(_command(job), section.submission / NS))


def _runs(job: Job, runtime_s: float) -> Job:
    """Return the job with another run time; within its limit, if it kept that in the trace."""
    if job.work is not None or job.runtime_s <= 0:
        return job  # a profile says what it does, or it ends at once
    return replace(job, runtime_s=min(runtime_s, job.requested_s) if job.runtime_s <= job.requested_s else runtime_s)


def _from_history(jobs: Sequence[Job], draws: Draws, settled: Container[int]) -> list[Job]:
    """Return jobs that use as much of their limits as a job that their user has submitted, which is drawn.

    Where the limit of one of the two is not known, the other's run time itself is taken. Jobs of unknown users stay.
    """
    past: dict[int, list[Job]] = {}
    for job in sorted(jobs, key=lambda job: job.id):
        if job.work is None and job.user != UNKNOWN:
            past.setdefault(job.user, []).append(job)
    found = []
    for job in jobs:
        own = past.get(job.user, [])
        if not own or job.id in settled or job.work is not None:
            found.append(job)
            continue
        other = own[int(draws.uniform(job.id) * len(own))]
        has_limits = 0 < job.requested_s < math.inf and 0 < other.requested_s < math.inf
        runtime_s = other.runtime_s / other.requested_s * job.requested_s if has_limits else other.runtime_s
        found.append(replace(job, runtime_s=runtime_s))
    return found
