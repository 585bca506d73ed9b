"""Metrics of single jobs: each is a series with the job table's index, in seconds or without unit, NaN where unknown.

Notation: a submission, s start, c completion, r execution time, b processors; wait w = s - a, turnaround t = c - a. A
job that has not finished has no c, and no metric that needs c.
"""

from __future__ import annotations

import pandas as pd

TAU_S = 10.0
"""The usual bound of the bounded slowdown, in seconds: jobs with a shorter run time count as if they had run this long.
"""


def waiting_time(jobs: pd.DataFrame) -> pd.Series:
    """Return w = s - a in seconds; known for every job that has started."""
    return jobs["starting_time"] - jobs["submission_time"]


def turnaround_time(jobs: pd.DataFrame) -> pd.Series:
    """Return t = c - a in seconds; also called response time."""
    return jobs["finish_time"] - jobs["submission_time"]


def slowdown(jobs: pd.DataFrame) -> pd.Series:
    """Return t / r, which is at least 1; NaN for a run time of 0.

    The slowdown is also called stretch, relative to a job alone on the machine. Suspensions are not part of r, and so
    count as waits. Feitelson, Rudolph: Metrics and benchmarking for parallel job scheduling, JSSPP 1998.
    """
    runtime = jobs["execution_time"]
    return turnaround_time(jobs) / runtime.where(runtime > 0)


stretch = slowdown


def bounded_slowdown(jobs: pd.DataFrame, tau_s: float = TAU_S) -> pd.Series:
    """Return max(1, t / max(r, tau)). Raises ValueError unless tau_s > 0.

    Feitelson: Metrics for parallel job scheduling and their convergence, JSSPP 2001.
    """
    bounded = jobs["execution_time"].clip(lower=_positive(tau_s))
    return (turnaround_time(jobs) / bounded).clip(lower=1.0)


def per_processor_slowdown(jobs: pd.DataFrame, tau_s: float = TAU_S) -> pd.Series:
    """Return max(1, t / (b max(r, tau))): the slowdown relative to the run time on one processor. ValueError unless tau_s > 0.

    Zotkin, Keleher: Job-length estimation and performance in backfilling schedulers, HPDC 1999, as bounded by Feitelson (2001).
    """
    bounded = jobs["execution_time"].clip(lower=_positive(tau_s)) * jobs["requested_number_of_resources"]
    return (turnaround_time(jobs) / bounded).clip(lower=1.0)


def area(jobs: pd.DataFrame) -> pd.Series:
    """Return b r, the work of each job in processor seconds."""
    return jobs["requested_number_of_resources"] * jobs["execution_time"]


def gpu_seconds(jobs: pd.DataFrame) -> pd.Series:
    """Return the GPUs of each job times its run time, in GPU seconds; NaN where the GPUs are unknown."""
    return jobs["allocated_gpus"] * jobs["execution_time"]


def _positive(tau_s: float) -> float:
    if not tau_s > 0:
        raise ValueError(f"tau_s: expected seconds above 0, got {tau_s}")
    return tau_s
