"""Commands of Slurm's users: how a job of a workload is submitted, how the queue is asked for."""

from __future__ import annotations

import math

from simunix.rjms.slurm.work import size_words, work_words
from simunix.workload.job import Job

QUEUE = ("squeue", "--noheader", "--format=%A")
MINUTE_S = 60


def time_limit_min(job: Job) -> int | None:
    """Slurm counts limits in minutes; one more than asked for, so that an exact request is not cut off. None: no limit."""
    return None if math.isinf(job.requested_s) else math.ceil(job.requested_s / MINUTE_S) + 1


def job_name(job_id: int) -> str:
    """The name under which a trace's job is found again in Slurm's accounting."""
    return f"swf-{job_id}"


def submit_command(job: Job) -> tuple[str, ...]:
    """sbatch for a job that does its work, or sleeps its run time, on as many cores as it asks for."""
    limit = time_limit_min(job)
    return (
        "sbatch",
        "--parsable",
        f"--job-name={job_name(job.id)}",
        *size_words(job),
        *(() if limit is None else (f"--time={limit}",)),
        *work_words(job),
    )
