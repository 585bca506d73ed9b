"""Metrics of single jobs: a series with the table's index, in seconds or without unit, NaN for jobs that have not finished.

Notation: a submission, s start, c completion, r execution time, b processors; wait w = s - a, turnaround t = c - a.
"""

from __future__ import annotations

import pandas as pd

TAU_S = 10.0
"""Usual bound of the bounded slowdown: shorter jobs count as this long."""


def waiting_time(jobs: pd.DataFrame) -> pd.Series:
    """w = s - a, seconds; known as soon as a job has started."""
    return jobs["starting_time"] - jobs["submission_time"]


def turnaround_time(jobs: pd.DataFrame) -> pd.Series:
    """t = c - a, seconds; also called response time."""
    return jobs["finish_time"] - jobs["submission_time"]


def slowdown(jobs: pd.DataFrame) -> pd.Series:
    """t / r, at least 1. A job that ran for no time at all has none: NaN.

    Also called stretch (against the job alone on the machine, which takes r). Suspensions are not in r: they count as waiting.
    Feitelson, Rudolph: Metrics and benchmarking for parallel job scheduling, JSSPP 1998.
    """
    runtime = jobs["execution_time"]
    return turnaround_time(jobs) / runtime.where(runtime > 0)


stretch = slowdown


def bounded_slowdown(jobs: pd.DataFrame, tau_s: float = TAU_S) -> pd.Series:
    """max(1, t / max(r, tau)). Feitelson: Metrics for parallel job scheduling and their convergence, JSSPP 2001."""
    bounded = jobs["execution_time"].clip(lower=_positive(tau_s))
    return (turnaround_time(jobs) / bounded).clip(lower=1.0)


def per_processor_slowdown(jobs: pd.DataFrame, tau_s: float = TAU_S) -> pd.Series:
    """max(1, t / (b max(r, tau))): slowdown of jobs that, had they less parallelism, would have run longer.

    Zotkin, Keleher: Job-length estimation and performance in backfilling schedulers, HPDC 1999, as bounded by Feitelson (2001).
    """
    bounded = jobs["execution_time"].clip(lower=_positive(tau_s)) * jobs["requested_number_of_resources"]
    return (turnaround_time(jobs) / bounded).clip(lower=1.0)


def area(jobs: pd.DataFrame) -> pd.Series:
    """b r, processor seconds: the job's work."""
    return jobs["requested_number_of_resources"] * jobs["execution_time"]


def _positive(tau_s: float) -> float:
    if not tau_s > 0:
        raise ValueError(f"tau_s: expected seconds above 0, got {tau_s}")
    return tau_s
