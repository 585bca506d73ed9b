"""Compute metrics of a whole schedule, one number each. Jobs that have not finished count only if a function's
docstring says so.
"""

from __future__ import annotations

import pandas as pd

from simunix.metrics import per_job
from simunix.metrics.catalog import METRICS
from simunix.metrics.energy import consumed_energy, energy_between
from simunix.metrics.fairness import known_user, user_fairness
from simunix.metrics.jobs import FINISHED
from simunix.metrics.per_job import area, slowdown
from simunix.metrics.rjms import scheduling_delay
from simunix.metrics.series import busy_processors, mean_over

LOSSES = ("restarts", "preemptions", "lost_core_seconds", "lost_gpu_seconds")
"""The columns of a job table about lost work, of which the summary has the sums."""
OF_JOBS = (
    per_job.waiting_time,
    per_job.turnaround_time,
    per_job.slowdown,
    per_job.bounded_slowdown,
    per_job.per_processor_slowdown,
)
"""Metrics of single jobs; the summary has the mean, median and maximum of each."""


def makespan(jobs: pd.DataFrame) -> float:
    """Return last completion - first submission in seconds; NaN if no job has finished. (Batsim 4 counts from 0 instead.)"""
    finished = jobs[jobs[FINISHED]]
    return float(finished["finish_time"].max() - jobs["submission_time"].min())


def utilisation(jobs: pd.DataFrame, processors: int) -> float:
    """Return work of the finished jobs / (processors x makespan), 0 ... 1. Raises ValueError for less than 1 processor.

    Equation 2.7 of Barberato (MPhil thesis, ANU 2018).
    """
    _check(processors)
    return float(area(jobs[jobs[FINISHED]]).sum() / (processors * makespan(jobs)))


def utilisation_during(jobs: pd.DataFrame, processors: int, begin_s: float, end_s: float) -> float:
    """Return the time average over [begin_s, end_s) of the processors that jobs hold, per processor of the machine, 0 ... 1.

    A job that runs across an end of the window counts with its part inside. NaN for an empty window; raises ValueError for less
    than 1 processor.
    """
    _check(processors)
    held = jobs[jobs["starting_time"].notna()]
    return mean_over(busy_processors(held), begin_s, end_s) / processors if begin_s < end_s else float("nan")


def throughput(jobs: pd.DataFrame) -> float:
    """Return finished jobs / makespan, in jobs per second."""
    return float(jobs[FINISHED].sum() / makespan(jobs))


def weighted_slowdown_total(jobs: pd.DataFrame) -> float:
    """Return sum(b t / r) / n: the slowdown times the number of processors, averaged over n jobs, so that the value
    grows with the sizes of the jobs.

    The formula is Barberato's equation 2.6, and gives his Table 4.9. The value is never below the mean slowdown.
    `weighted_slowdown_mean` is another reading of "weighted slowdown".
    """
    weighted = slowdown(jobs) * jobs["requested_number_of_resources"]
    return float(weighted.mean())


def weighted_slowdown_mean(jobs: pd.DataFrame) -> float:
    """Return sum(b t / r) / sum(b): the mean of the slowdowns with processors as weights; 1 if no job waits.

    Barberato's Tables 4.7, 4.8 and 5.1 must hold this metric, since their weighted slowdowns are below the plain ones.
    """
    ratio = slowdown(jobs)
    sizes = jobs["requested_number_of_resources"].where(ratio.notna())
    return float((ratio * sizes).sum() / sizes.sum())


def summary(
    jobs: pd.DataFrame, processors: int, present: pd.DataFrame | None = None, power: pd.DataFrame | None = None
) -> pd.Series:
    """Return every metric of `simunix.metrics.catalog` by its name, in the catalogue's order; NaN for metrics that the
    jobs do not determine.

    `jobs` may be a part of the jobs that were `present`, such as a replay without its context, or the jobs submitted in
    a window. The utilisation then counts all jobs present, from the first submission to the last completion of `jobs`.
    `power` has the columns time (s) and watts of all nodes and enclosures.
    """
    begin, end = float(jobs["submission_time"].min()), float(jobs["finish_time"].max())
    values: dict[str, float] = {
        "jobs": float(len(jobs)),
        "finished": float(jobs[FINISHED].sum()),
        "makespan": makespan(jobs),
        "utilisation": utilisation(jobs, processors),
        "throughput": throughput(jobs),
        "weighted_slowdown_total": weighted_slowdown_total(jobs),
        "weighted_slowdown_mean": weighted_slowdown_mean(jobs),
    }
    if present is not None and len(present) > len(jobs):
        values["utilisation"] = utilisation_during(present, processors, begin, end)
    for metric in OF_JOBS:
        series = metric(jobs)
        for name, value in (("mean", series.mean()), ("median", series.median()), ("max", series.max())):
            values[f"{name}_{metric.__name__}"] = float(value)
    values["mean_scheduling_delay"] = _mean_scheduling_delay(jobs, processors, jobs if present is None else present)
    values["users"] = float(known_user(jobs).nunique())
    for metric in (per_job.waiting_time, per_job.bounded_slowdown):
        values[f"user_fairness_{metric.__name__}"] = user_fairness(jobs, metric)
    values |= {name: total(jobs, name) for name in LOSSES}
    values["gpu_seconds"] = float(per_job.gpu_seconds(jobs).sum(min_count=1))
    values["consumed_energy"] = consumed_energy(jobs)
    values["machine_energy"] = float("nan") if power is None else energy_between(power, begin, end)
    return pd.Series({metric.name: values[metric.name] for metric in METRICS}, name="summary")


def total(jobs: pd.DataFrame, column: str) -> float:
    """Return the sum of a column over the jobs whose value is known; NaN if no job's value is."""
    return float(jobs[column].sum(min_count=1))


def _mean_scheduling_delay(jobs: pd.DataFrame, processors: int, present: pd.DataFrame) -> float:
    """Return the mean scheduling delay of `jobs`, in seconds, on a machine on which the jobs `present` ran; NaN if jobs
    shared processors.
    """
    try:
        delays = scheduling_delay(present[present["starting_time"].notna()], processors)
    except ValueError:
        return float("nan")
    return float(delays.reindex(jobs.index).mean())


def _check(processors: int) -> None:
    if processors < 1:
        raise ValueError(f"processors: expected at least 1, got {processors}")
