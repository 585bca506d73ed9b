"""Changes the submission times and run times of a workload's jobs a little, as they differ between two runs of a real
cluster.
"""

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

    Each random number belongs to the name of the trace and the number of a job, and so does not depend on other jobs.
    The elements of a job array, or the components of a heterogeneous job, are submitted by one command, and have one
    random number for their submission. Times in the jobs are seconds. Jobs whose numbers are in `settled` (the jobs of
    a context) are not changed.
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
    """Return the key of the random numbers for a job's submission: the number of the array or heterogeneous job to
    which the job belongs.
    """
    return job.id if job.request is None else job.request.number


def _submitted_later(job: Job, section: PerturbSection, draws: Draws) -> Job:
    if not section.submission:
        return job
    return replace(job, submit_s=job.submit_s + draws.exponential(_command(job), section.submission / NS))


def _runs(job: Job, runtime_s: float) -> Job:
    """Return the job with a changed run time, which stays within the job's limit if the run time in the trace did."""
    if job.work is not None or job.runtime_s <= 0:
        return job  # a profile says what the job does, or the job ends at once
    return replace(job, runtime_s=min(runtime_s, job.requested_s) if job.runtime_s <= job.requested_s else runtime_s)


def _from_history(jobs: Sequence[Job], draws: Draws, settled: Container[int]) -> list[Job]:
    """Return the jobs with new run times: each job uses as large a part of its limit as another job of its user, which
    is chosen at random. If one of the two jobs has no known limit, the job gets the run time of the other one. Jobs of
    unknown users are not changed.
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
