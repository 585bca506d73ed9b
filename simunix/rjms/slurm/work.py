"""The words that tell sbatch the size of a job and what the job does, and srun to start the job's ranks."""

from __future__ import annotations

from simunix.workload.job import Job

LAUNCH = ("srun", "--kill-on-bad-exit=1", "--input=none")
"""The command that starts the ranks of a job's step, one for each task of the allocation."""


def size_words(job: Job) -> tuple[str, ...]:
    """Return the size of a job: a task for each rank, with as many cores as the job has for it, or with a node of its
    own.
    """
    work = job.work
    if work is None or (not work.on_nodes and work.ranks == job.cores):
        return (f"--ntasks={job.cores}",)
    if work.on_nodes:
        return (f"--nodes={work.ranks}", "--ntasks-per-node=1", "--exclusive")
    return (f"--ntasks={work.ranks}", f"--cpus-per-task={job.cores // work.ranks}")


def work_words(job: Job) -> tuple[str, ...]:
    """Return what a job does: its script, with its log; or a sleep for its run time."""
    if job.work is None:
        return ("--output=/dev/null", f"--wrap=exec sleep {job.runtime_s:g}")
    return (f"--output={job.work.output}", job.work.script)
