"""Metrics of the jobs submitted in a window of time, as observed in that window. Emeras defined these metrics for his
replays (Table 3.1).

J. Emeras: Workload Traces Analysis and Replay in Large Scale Distributed Systems, PhD thesis, Univ. Grenoble, 2013, chapter 3.
The metrics are of the steady state only, from the first submission of the replay on. A job that has not started has an infinite
wait, and a job that has not ended an infinite slowdown, so that distributions over all jobs stay below 100 %.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from simunix.metrics.per_job import slowdown, waiting_time
from simunix.metrics.series import busy_processors, mean_over

QUANTILES = {"median": 0.5, "third quartile": 0.75, "ninth decile": 0.9}


def waits_within(jobs: pd.DataFrame, end_s: float) -> pd.Series:
    """Return start - submission in seconds; infinite for jobs that had not started before end_s."""
    return waiting_time(jobs).where(jobs["starting_time"] < end_s, np.inf)


def slowdowns_within(jobs: pd.DataFrame, end_s: float) -> pd.Series:
    """Return (wait + run time) / run time; infinite for jobs that had not completed by end_s, NaN for a run time of 0."""
    return slowdown(jobs).where(_is_completed(jobs, end_s), np.inf)


def steady_state(jobs: pd.DataFrame, replay: pd.DataFrame, begin_s: float, end_s: float, processors: int) -> pd.Series:
    """Return, by name: jobs, the shares launched and completed within [begin_s, end_s), utilisation, quantiles, maxima.

    `replay` (`simunix.metrics.jobs.replayed`) is the table of the jobs that count. `utilisation` is the time average of the
    processors that all `jobs` held, also the jobs of a context. A completed job has the state COMPLETED and ended by
    end_s. Quantiles are over all jobs of the replay, and take the next higher value, since nothing can be interpolated
    with infinity. Raises ValueError for an empty window or replay.
    """
    if replay.empty:
        raise ValueError("replay: expected at least one job")
    waits = waits_within(replay, end_s)
    slowdowns = slowdowns_within(replay, end_s)
    values = {
        "jobs": float(len(replay)),
        "launched": float((replay["starting_time"] < end_s).mean()),
        "completed": float(_is_completed(replay, end_s).mean()),
        "utilisation": mean_over(busy_processors(jobs), begin_s, end_s) / processors,
    }
    for what, column in (("wait", waits), ("slowdown", slowdowns)):
        for name, share in QUANTILES.items():
            values[f"{name} of {what}"] = float(column.quantile(share, interpolation="higher"))
        values[f"largest finite {what}"] = float(column[np.isfinite(column)].max())
    return pd.Series(values)


def _is_completed(jobs: pd.DataFrame, end_s: float) -> pd.Series:
    return (jobs["final_state"] == "COMPLETED") & (jobs["finish_time"] <= end_s)
