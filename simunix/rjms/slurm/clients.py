"""Commands of Slurm's users: how a job of a workload is submitted, how the queue is asked for."""

from __future__ import annotations

import math

from simunix.workload.job import Job

QUEUE = ("squeue", "--noheader", "--format=%A")
MINUTE_S = 60


def time_limit_min(job: Job) -> int:
    """Slurm counts limits in minutes; one more than asked for, so that an exact request is not cut off."""
    return math.ceil(job.requested_s / MINUTE_S) + 1


def job_name(job_id: int) -> str:
    """The name under which a trace's job is found again in Slurm's accounting."""
    return f"swf-{job_id}"


def submit_command(job: Job) -> tuple[str, ...]:
    """sbatch for a job that sleeps its run time on as many cores as it asks for."""
    return (
        "sbatch",
        "--parsable",
        f"--job-name={job_name(job.id)}",
        f"--ntasks={job.cores}",
        f"--time={time_limit_min(job)}",
        "--output=/dev/null",
        f"--wrap=exec sleep {job.runtime_s:g}",
    )
