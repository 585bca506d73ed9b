"""Commands of Slurm's users: how a job of a workload is submitted, how the queue is asked for."""

from __future__ import annotations

import math

from simunix.rjms.clients import Choice, Clients
from simunix.workload.job import Job

SBATCH, SRUN = "sbatch", "srun"
QUEUE = ("squeue", "--noheader", "--format=%A")
UNFINISHED = ("squeue", "--noheader", "--array", "--format=%i")
ENDED = ("scontrol", "--oneliner", "show", "job", "{}")
END_PATTERN = r"\bEndTime=(\S+)"
RELEASE = ("scontrol", "release", "{}")
MINUTE_S = 60
ARRAY_MAX = 1000
"""Slurm's MaxArraySize is 1001 unless slurm.conf says otherwise, and the index has to be below it."""


def time_limit_min(job: Job) -> int:
    """Slurm counts limits in minutes; one more than asked for, so that an exact request is not cut off."""
    return math.ceil(job.requested_s / MINUTE_S) + 1


def job_name(job_id: int) -> str:
    """The name under which a trace's job is found again in Slurm's accounting."""
    return f"swf-{job_id}"


def name_option(job_id: int) -> str:
    """The option that gives a job its name."""
    return f"--job-name={job_name(job_id)}"


OPTIONS = ("partition", "qos", "account", "nice", "priority")
"""Fields of a Choice whose names are those of sbatch's and srun's options."""


def chosen_options(choice: Choice) -> tuple[str, ...]:
    """The options of a choice, those of the user last."""
    values = {name: getattr(choice, name) for name in OPTIONS}
    held = ("--hold",) if choice.is_held else ()
    return (*(f"--{name}={value}" for name, value in values.items() if value is not None), *held, *choice.arguments)


def submit_command(job: Job, choice: Choice | None = None) -> tuple[str, ...]:
    """sbatch or srun for a job that sleeps its run time on as many cores as it asks for."""
    choice = choice or Choice(SBATCH)
    size = (f"--ntasks={job.cores}", f"--time={time_limit_min(job)}")
    rest = (*size, "--output=/dev/null", *chosen_options(choice))
    sleep = f"{job.runtime_s:g}"
    if choice.client == SRUN:
        return (SRUN, name_option(job.id), *rest, "sleep", sleep)
    return (SBATCH, "--parsable", name_option(job.id), *rest, f"--wrap=exec sleep {sleep}")


CLIENTS = Clients(
    (SBATCH, SRUN),
    frozenset({SRUN}),
    submit_command,
    name_option,
    "--dependency=afterany:{}",
    "--array=0-{}",
    ARRAY_MAX,
    QUEUE,
    UNFINISHED,
    ENDED,
    END_PATTERN,
    RELEASE,
)
