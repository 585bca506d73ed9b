"""Fairness of a schedule: how evenly users are served."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from simunix.metrics.jobs import FINISHED
from simunix.metrics.per_job import area, bounded_slowdown, waiting_time

UNKNOWN = ("", -1, "-1")


def jain_index(values: pd.Series) -> float:
    """Return Jain's index (sum x)^2 / (n sum x^2): 1 if all values are equal, 1/n if all but one are 0; NaN for no values.

    If all values are 0, they are equal, and the index is 1. Raises ValueError for values below 0. Jain, Chiu, Hawe: A
    quantitative measure of fairness, DEC-TR-301, 1984.
    """
    known = values.dropna()
    if (known < 0).any():
        raise ValueError("jain_index: expected no values below 0")
    if known.empty:
        return float("nan")
    # scale the values, since large ones would overflow when squared, and small ones become 0
    scaled = known / known.max() if known.max() > 0 else known + 1.0
    return float(scaled.sum() ** 2 / (len(scaled) * (scaled**2).sum()))


def known_user(jobs: pd.DataFrame) -> pd.Series:
    """Return the column `user` with NaN where the user is unknown (empty, or SWF's -1)."""
    user = jobs["user"]
    return user.where(user.notna() & ~user.isin(UNKNOWN))


def per_user(jobs: pd.DataFrame, metric: Callable[[pd.DataFrame], pd.Series] = bounded_slowdown) -> pd.Series:
    """Return the mean of a per-job metric for each known user, over the jobs whose metric is known."""
    return metric(jobs).groupby(known_user(jobs)).mean()


def user_fairness(jobs: pd.DataFrame, metric: Callable[[pd.DataFrame], pd.Series] = bounded_slowdown) -> float:
    """Return Jain's index over the users' means of a per-job metric."""
    return jain_index(per_user(jobs, metric))


def user_table(jobs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each known user, the users with most work first.

    Columns: user, jobs, finished (numbers of jobs), work (processor seconds), mean_waiting_time (s), mean_bounded_slowdown,
    energy (joules, NaN where it is not known).
    """
    user = known_user(jobs)
    columns = {
        "jobs": pd.Series(1, index=jobs.index).groupby(user).sum(),
        "finished": jobs[FINISHED].groupby(user).sum().astype(int),
        "work": area(jobs).groupby(user).sum(),
        "mean_waiting_time": per_user(jobs, waiting_time),
        "mean_bounded_slowdown": per_user(jobs),
        "energy": jobs["consumed_energy"].groupby(user).sum(min_count=1),
    }
    table = pd.DataFrame(columns).rename_axis("user").reset_index()
    return table.sort_values(["work", "user"], ascending=[False, True], kind="stable", ignore_index=True)
