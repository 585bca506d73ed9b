"""Metrics of a whole schedule, one number each. Jobs that have not finished count only where a docstring says so."""

from __future__ import annotations

import pandas as pd

from simunix.metrics.jobs import FINISHED
from simunix.metrics.per_job import area, slowdown


def makespan(jobs: pd.DataFrame) -> float:
    """Last completion - first submission, seconds; NaN if nothing has finished. (Batsim 4 leaves the first submission out.)"""
    finished = jobs[jobs[FINISHED]]
    return float(finished["finish_time"].max() - jobs["submission_time"].min())


def utilisation(jobs: pd.DataFrame, processors: int) -> float:
    """Work of the finished jobs / (processors x makespan), 0 ... 1; equation 2.7 of Barberato (MPhil thesis, ANU 2018)."""
    _check(processors)
    return float(area(jobs[jobs[FINISHED]]).sum() / (processors * makespan(jobs)))


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


def summary(jobs: pd.DataFrame, processors: int) -> pd.Series:
    """The usual numbers of a schedule by name: counts, means, medians, maxima."""
    from simunix.metrics import per_job

    values: dict[str, float] = {
        "jobs": float(len(jobs)),
        "finished": float(jobs[FINISHED].sum()),
        "makespan": makespan(jobs),
        "utilisation": utilisation(jobs, processors),
        "throughput": throughput(jobs),
        "weighted_slowdown_total": weighted_slowdown_total(jobs),
        "weighted_slowdown_mean": weighted_slowdown_mean(jobs),
    }
    for metric in (per_job.waiting_time, per_job.turnaround_time, per_job.slowdown, per_job.bounded_slowdown):
        series = metric(jobs)
        for name, value in (("mean", series.mean()), ("median", series.median()), ("max", series.max())):
            values[f"{name}_{metric.__name__}"] = float(value)
    return pd.Series(values, name="summary")


def _check(processors: int) -> None:
    if processors < 1:
        raise ValueError(f"processors: expected at least 1, got {processors}")
