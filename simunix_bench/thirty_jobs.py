"""Run thirty short jobs on sixteen nodes, in real time (with Slurm's own multiple-slurmd mode) and emulated, and
compare the start times.

Both runs use the same submitting program and the same sbatch commands. Start times come from Slurm's own job completion
log, in seconds after the first submission.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from simunix.rjms.adapter import CompletedJob
from simunix.rjms.trace_jobs import job_name
from simunix.workload.job import Job
from simunix_bench import emulated_cluster, real_cluster
from simunix_bench.context import Context, MeasurementError
from simunix_bench.real_cluster import Machine
from simunix_bench.requirements import lacks
from simunix_bench.row import Row, missing

NODES, CORES = 16, 16
LIMIT_S = 600.0


@dataclass(frozen=True, slots=True)
class Started:
    """A job and its start in real time and emulated, in seconds after the first submission."""

    job: Job
    real_s: float
    emulated_s: float


def make_jobs() -> list[Job]:
    """Return a minute of short jobs that fill the machine now and then, so that some jobs wait."""
    choose = random.Random(1)
    moments = sorted(choose.uniform(0, 60) for _ in range(30))
    return [
        Job(number, math.floor(at), choose.randint(3, 20), 60, cores=choose.choice([1, 4, 16, 32, 64, 160]))
        for number, at in enumerate(moments, 1)
    ]


def starts(jobs: Sequence[Job], noted: Mapping[str, CompletedJob]) -> list[float]:
    """Return the seconds from the first submission to each start. Raises MeasurementError for a job that never started."""
    found = [noted.get(job_name(job.id)) for job in jobs]
    for job, each in zip(jobs, found, strict=True):
        if each is None or each.start_s is None:
            raise MeasurementError(f"job {job.id} never started")
    begin = min(each.submit_s for each in found if each is not None)
    return [(each.start_s or 0) - begin for each in found if each is not None]


def side_by_side(context: Context) -> tuple[list[Started], float, float]:
    """Run the jobs in both ways; return the jobs with their start times, and the wall times of the real and of the
    emulated run in seconds.
    """
    jobs = make_jobs()
    emulated = emulated_cluster.run_jobs(context, jobs, NODES, CORES)
    real = real_cluster.run_jobs(context, jobs, Machine(NODES, CORES), limit_s=LIMIT_S)
    if not real.has_ended:
        raise MeasurementError(f"real daemons: {real.trouble}")
    both = zip(jobs, starts(jobs, real.jobs), starts(jobs, emulated.jobs), strict=True)
    return [Started(*each) for each in both], real.wall_s, emulated.wall_s


def thirty_jobs(context: Context) -> Iterator[Row]:
    """Yield rows with the wall times, and with the largest differences of start times."""
    if why := lacks(["namespaces"]):
        yield missing("thirty-jobs", "30 jobs in real time and emulated", why)
        return
    started, real_s, emulated_s = side_by_side(context)
    apart = [abs(each.real_s - each.emulated_s) for each in started]
    yield Row("thirty-jobs-real", "30 jobs, 16 nodes: wall time in real time", real_s, "s")
    yield Row("thirty-jobs-emulated", "30 jobs, 16 nodes: wall time emulated", emulated_s, "s")
    note = "back-fill's passes are counted from slurmctld's start, which is nearer to the first submission when emulated"
    yield Row("thirty-jobs-median", "30 jobs: start times apart, median", statistics.median(apart), "s", note=note)
    yield Row("thirty-jobs-most", "30 jobs: start times apart, most", max(apart), "s", note=note)
