"""The words for sbatch that give the size of a job and what the job does, and the srun command that starts the job's
ranks.
"""

from __future__ import annotations

from simunix.workload.job import Job

LAUNCH = ("srun", "--kill-on-bad-exit=1", "--input=none")
"""The command that starts the ranks of a job, one for each task of the allocation."""


def size_words(job: Job) -> tuple[str, ...]:
    """Return the sbatch options for a job's size: one task for each rank, with the rank's number of cores, or with a
    whole node.
    """
    work = job.work
    if work is None or (not work.on_nodes and work.ranks == job.cores):
        return (f"--ntasks={job.cores}",)
    if work.on_nodes:
        return (f"--nodes={work.ranks}", "--ntasks-per-node=1", "--exclusive")
    return (f"--ntasks={work.ranks}", f"--cpus-per-task={job.cores // work.ranks}")


def work_words(job: Job) -> tuple[str, ...]:
    """Return the sbatch arguments for what a job does: its script with the script's log, or a sleep for the job's run
    time.
    """
    if job.work is None:
        return ("--output=/dev/null", f"--wrap=exec sleep {job.runtime_s:g}")
    return (f"--output={job.work.output}", job.work.script)
