"""The commands of Slurm's users: how simunix submits a job of a workload, and asks for the queue."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simunix.rjms.adapter import ByHand, Choice, Clients
from simunix.rjms.slurm.options import chosen_options
from simunix.rjms.slurm.requests import TABLES, told_limit_s
from simunix.rjms.slurm.work import LAUNCH, size_words, work_words
from simunix.rjms.trace_jobs import job_name
from simunix.workload.job import Job

SBATCH, SRUN = "sbatch", "srun"
NUMBER = r"^(\d+)"
"""The pattern of the job number in the output of `sbatch --parsable`: NUMBER, or NUMBER;CLUSTER."""
QUEUE = ("squeue", "--noheader", "--format=%A")
UNFINISHED = ("squeue", "--noheader", "--array", "--format=%i")
ENDED = ("scontrol", "--oneliner", "show", "job", "{}")
END_PATTERN = r"\bEndTime=(\S+)"
RELEASE = ("scontrol", "release", "{}")
STATES = "squeue --noheader --states=all --format='%j|%T|%C'"
MINUTE_S = 60
ARRAY_MAX = 1000
"""The most elements of a job array. Slurm's MaxArraySize is 1001 unless slurm.conf changes it, and the index must be
below it.
"""


def time_limit_min(job: Job) -> int | None:
    """Return a job's time limit in minutes, as Slurm counts, plus one, so that a job that needs exactly its limit is
    not cut off; None for no limit.
    """
    return None if math.isinf(job.requested_s) else math.ceil(job.requested_s / MINUTE_S) + 1


def name_option(job_id: int) -> str:
    """Return the sbatch option that gives a job its name."""
    return f"--job-name={job_name(job_id)}"


def submit_command(job: Job, choice: Choice | None = None) -> tuple[str, ...]:
    """Return the command that submits a job with the client of `choice`: sbatch with the job's script, or srun with a
    sleep for the job's run time.
    """
    choice = choice or Choice(SBATCH)
    limit = time_limit_min(job)
    rest = (*size_words(job), *(() if limit is None else (f"--time={limit}",)), *chosen_options(choice))
    if choice.client == SRUN:
        return (SRUN, name_option(job.id), *rest, "--output=/dev/null", "sleep", f"{job.runtime_s:g}")
    return (SBATCH, "--parsable", name_option(job.id), *rest, *work_words(job))


def limit_s(job: Job) -> float | None:
    """Return the time limit in seconds that Slurm is told for a job; None for no limit."""
    if job.request is not None:
        return told_limit_s(job.request)
    limit = time_limit_min(job)
    return None if limit is None else limit * 60.0


def find_held(names: Sequence[str]) -> str:
    """Return a shell command that prints the numbers of the pending jobs with these names, in the order of their
    submission.
    """
    return f"squeue --noheader --states=PENDING --sort=i --format=%A --name={','.join(names)}"


def array_words(count: int) -> tuple[str, ...]:
    """Return the sbatch option that submits a job as an array of `count` elements."""
    return (f"--array=0-{count - 1}",)


_OUTPUT = "scontrol --oneliner show job {} | sed -n 's/.* StdOut=\\([^ ]*\\).*/\\1/p'"
BY_HAND = ByHand(
    hint="sbatch --nodes=2 --output=/dev/null --wrap 'sleep 600' · squeue · sinfo · scancel 1",
    job={
        "what Slurm says": "scontrol --details show job {}",
        "why it waits": "squeue --job={} --Format=State,Reason,StartTime,PriorityLong",
        "steps": "scontrol show step {}",
        "script": "scontrol write batch_script {} -",
        "output": f'file=$({_OUTPUT}); echo "$file"; tail --lines=40 "$file"',
        "hold": "scontrol hold {}",
        "release": "scontrol release {}",
        "cancel": "scancel {}",
    },
    node={
        "what Slurm says": "scontrol show node {}",
        "drain": "scontrol update NodeName={} State=DRAIN Reason=by-hand",
        "take back into use": "scontrol update NodeName={} State=RESUME",
    },
    cluster={"queue": "squeue", "nodes": "sinfo", "scheduler": "sdiag"},
)
CLIENTS = Clients(
    names=(SBATCH, SRUN),
    staying=frozenset({SRUN}),
    command=submit_command,
    job_name=job_name,
    named=name_option,
    limit_s=limit_s,
    number=NUMBER,
    after=("--dependency=afterany:{}",),
    array=array_words,
    array_max=ARRAY_MAX,
    launch=LAUNCH,
    log_name="%x-%j",
    queue=QUEUE,
    unfinished=UNFINISHED,
    ended=ENDED,
    end_pattern=END_PATTERN,
    release=RELEASE,
    states=STATES,
    running="RUNNING",
    pending="PENDING",
    find_held=find_held,
    release_all=RELEASE[:2],
    tables=TABLES,
    number_variable="SLURM_JOB_ID",
    by_hand=BY_HAND,
    policy="simunix.rjms.slurm.policy",
)
