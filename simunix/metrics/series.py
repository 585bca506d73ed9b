"""Quantities over time as step functions: a pandas series whose index has the moments (seconds) at which the quantity
changes.
"""

from __future__ import annotations

import numpy as np
import pandas as pd


def _steps(rises: pd.Series, falls: pd.Series, weight: pd.Series) -> pd.Series:
    """Return the step function of the sum of `weight` over the rows whose interval [rise, fall) contains the moment.

    A row without a fall counts to the end of time; a row without a rise never counts.
    """
    began = rises.notna()
    moments = np.concatenate([rises[began], falls[began & falls.notna()]])
    changes = np.concatenate([weight[began], -weight[began & falls.notna()]])
    steps = pd.Series(changes, index=pd.Index(moments, name="time"), dtype=float)
    return steps.groupby(level=0).sum().cumsum()


def busy_processors(jobs: pd.DataFrame) -> pd.Series:
    """Return the processors that jobs hold, each from its start to its end."""
    return _steps(jobs["starting_time"], jobs["finish_time"], jobs["requested_number_of_resources"])


def busy_gpus(jobs: pd.DataFrame) -> pd.Series:
    """Return the GPUs that jobs hold, each from its start to its end; jobs whose GPUs are unknown hold none."""
    return _steps(jobs["starting_time"], jobs["finish_time"], jobs["allocated_gpus"].fillna(0.0))


def working_processors(jobs: pd.DataFrame, suspensions: pd.DataFrame) -> pd.Series:
    """Return the processors of jobs that are not suspended; `suspensions` is a table of `simunix.metrics.logs.suspensions`."""
    held = busy_processors(jobs)
    idle = _steps(suspensions["begin"], suspensions["end"], suspensions["requested_number_of_resources"])
    moments = held.index.union(idle.index)
    return held.reindex(moments, method="ffill", fill_value=0.0) - idle.reindex(moments, method="ffill", fill_value=0.0)


def running_jobs(jobs: pd.DataFrame) -> pd.Series:
    """Return the number of running jobs as a step function of time."""
    return _steps(jobs["starting_time"], jobs["finish_time"], pd.Series(1.0, index=jobs.index))


def queued_jobs(jobs: pd.DataFrame) -> pd.Series:
    """Return the queue length: the number of jobs submitted, not yet started and not removed from the queue."""
    return _steps(jobs["submission_time"], _left_queue(jobs), pd.Series(1.0, index=jobs.index))


def queued_processors(jobs: pd.DataFrame) -> pd.Series:
    """Return, as a step function of time, how many processors the queued jobs ask for."""
    return _steps(jobs["submission_time"], _left_queue(jobs), jobs["requested_number_of_resources"])


def _left_queue(jobs: pd.DataFrame) -> pd.Series:
    return jobs["starting_time"].fillna(jobs["removal_time"])


def mean_over(steps: pd.Series, begin_s: float, end_s: float) -> float:
    """Return the time average of a step function over [begin_s, end_s); the function is 0 before its first step. Raises
    ValueError for an empty interval.
    """
    if not begin_s < end_s:
        raise ValueError(f"window: expected begin before end, got {begin_s:g} ... {end_s:g}")
    inside = steps[(steps.index > begin_s) & (steps.index < end_s)]
    before = steps[steps.index <= begin_s]
    first = float(before.iloc[-1]) if len(before) else 0.0
    moments = np.concatenate([[begin_s], inside.index.to_numpy(dtype=float), [end_s]])
    values = np.concatenate([[first], inside.to_numpy(dtype=float)])
    return float((values * np.diff(moments)).sum() / (end_s - begin_s))


def steady_window(jobs: pd.DataFrame, warm_up: float = 0.1, cool_down: float = 0.1) -> tuple[float, float]:
    """Return the interval [begin, end) of the submissions, in seconds, without the first and last parts of their span,
    in which the machine fills and drains.

    `warm_up` and `cool_down` are shares of the span. Raises ValueError for shares below 0 or with a sum of 1 or more.
    """
    if warm_up < 0 or cool_down < 0 or warm_up + cool_down >= 1:
        raise ValueError(f"warm_up {warm_up:g} and cool_down {cool_down:g}: expected shares of the span whose sum is below 1")
    first, last = float(jobs["submission_time"].min()), float(jobs["submission_time"].max())
    return first + warm_up * (last - first), last - cool_down * (last - first)


def submitted_within(jobs: pd.DataFrame, begin_s: float, end_s: float) -> pd.DataFrame:
    """Return the jobs of a job table that were submitted in [begin_s, end_s), in seconds."""
    return jobs[(jobs["submission_time"] >= begin_s) & (jobs["submission_time"] < end_s)]


def mean_over_bins(steps: pd.Series, edges: np.ndarray) -> np.ndarray:
    """Return the time average of a step function, 0 before its first step, over each bin [edges[i], edges[i + 1]).

    The result equals `mean_over` of each bin, but is computed from one integral for all bins. Raises ValueError for edges that
    do not rise.
    """
    widths = np.diff(edges)
    if not (widths > 0).all():
        raise ValueError("edges: expected rising moments")
    if steps.empty:
        return np.zeros(len(widths))
    moments, values = steps.index.to_numpy(dtype=float), steps.to_numpy(dtype=float)
    integral = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(moments))])
    beyond = np.clip(edges - moments[-1], 0.0, None) * values[-1]
    means: np.ndarray = np.diff(np.interp(edges, moments, integral) + beyond) / widths
    return means
