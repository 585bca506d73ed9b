"""Metrics of a whole schedule, one number each. Jobs that have not finished count only where a docstring says so."""

from __future__ import annotations

import pandas as pd

from simunix.metrics import per_job
from simunix.metrics.fairness import known_user, user_fairness
from simunix.metrics.jobs import FINISHED
from simunix.metrics.per_job import area, slowdown
from simunix.metrics.rjms import scheduling_delay
from simunix.metrics.series import busy_processors, mean_over

OF_JOBS = (
    per_job.waiting_time,
    per_job.turnaround_time,
    per_job.slowdown,
    per_job.bounded_slowdown,
    per_job.per_processor_slowdown,
)
"""Metrics of single jobs of which the summary has mean, median and maximum."""


def makespan(jobs: pd.DataFrame) -> float:
    """Last completion - first submission, seconds; NaN if nothing has finished. (Batsim 4 leaves the first submission out.)"""
    finished = jobs[jobs[FINISHED]]
    return float(finished["finish_time"].max() - jobs["submission_time"].min())


def utilisation(jobs: pd.DataFrame, processors: int) -> float:
    """Work of the finished jobs / (processors x makespan), 0 ... 1; equation 2.7 of Barberato (MPhil thesis, ANU 2018)."""
    _check(processors)
    return float(area(jobs[jobs[FINISHED]]).sum() / (processors * makespan(jobs)))


def utilisation_during(jobs: pd.DataFrame, processors: int, begin_s: float, end_s: float) -> float:
    """Time average over [begin_s, end_s) of the processors that jobs hold, per processor of the machine, 0 ... 1.

    As `utilisation`, of a window of the schedule: what runs into it or out of it counts with its part. NaN for an empty window.
    """
    _check(processors)
    held = jobs[jobs["starting_time"].notna()]
    return mean_over(busy_processors(held), begin_s, end_s) / processors if begin_s < end_s else float("nan")


def throughput(jobs: pd.DataFrame) -> float:
    """Finished jobs per second of makespan."""
    return float(jobs[FINISHED].sum() / makespan(jobs))


def weighted_slowdown_total(jobs: pd.DataFrame) -> float:
    """sum(b t / r) / n: slowdown times processors, averaged over jobs; grows with the jobs' sizes.

    Barberato's equation 2.6 and Table 4.9. Never below the mean slowdown; see `weighted_slowdown_mean` for the other reading.
    """
    weighted = slowdown(jobs) * jobs["requested_number_of_resources"]
    return float(weighted.mean())


def weighted_slowdown_mean(jobs: pd.DataFrame) -> float:
    """sum(b t / r) / sum(b): the mean of slowdowns with processors as weights; 1 where nobody waits.

    What Barberato's Tables 4.7, 4.8 and 5.1 must hold, where the weighted slowdown is below the plain one.
    """
    ratio = slowdown(jobs)
    sizes = jobs["requested_number_of_resources"].where(ratio.notna())
    return float((ratio * sizes).sum() / sizes.sum())


def summary(jobs: pd.DataFrame, processors: int, present: pd.DataFrame | None = None) -> pd.Series:
    """The usual numbers of a schedule by name: counts, means, medians, maxima.

    Where `jobs` are a part of those that were `present` (a replay without its context, a window of the submissions), the
    utilisation is that of the machine by all of them, from the first submission to the last completion of `jobs`.
    """
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
        begin, end = float(jobs["submission_time"].min()), float(jobs["finish_time"].max())
        values["utilisation"] = utilisation_during(present, processors, begin, end)
    for metric in OF_JOBS:
        series = metric(jobs)
        for name, value in (("mean", series.mean()), ("median", series.median()), ("max", series.max())):
            values[f"{name}_{metric.__name__}"] = float(value)
    values["mean_scheduling_delay"] = _mean_scheduling_delay(jobs, processors, jobs if present is None else present)
    values["users"] = float(known_user(jobs).nunique())
    for metric in (per_job.waiting_time, per_job.bounded_slowdown):
        values[f"user_fairness_{metric.__name__}"] = user_fairness(jobs, metric)
    return pd.Series(values, name="summary")


def _mean_scheduling_delay(jobs: pd.DataFrame, processors: int, present: pd.DataFrame) -> float:
    """Of `jobs` among those `present`; NaN where processors were shared."""
    try:
        delays = scheduling_delay(present[present["starting_time"].notna()], processors)
    except ValueError:
        return float("nan")
    return float(delays.reindex(jobs.index).mean())


def _check(processors: int) -> None:
    if processors < 1:
        raise ValueError(f"processors: expected at least 1, got {processors}")
