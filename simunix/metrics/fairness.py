"""How evenly users are served."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from simunix.metrics.jobs import FINISHED
from simunix.metrics.per_job import area, bounded_slowdown, waiting_time

UNKNOWN = ("", -1, "-1")


def jain_index(values: pd.Series) -> float:
    """(sum x)^2 / (n sum x^2): 1 if all are equal, 1/n if one has everything; NaN for no values.

    All zeros are equal: 1. Jain, Chiu, Hawe: A quantitative measure of fairness, DEC-TR-301, 1984. ValueError below zero.
    """
    known = values.dropna()
    if (known < 0).any():
        raise ValueError("jain_index: expected no values below 0")
    if known.empty:
        return float("nan")
    scaled = known / known.max() if known.max() > 0 else known + 1.0  # so that squares neither overflow nor vanish
    return float(scaled.sum() ** 2 / (len(scaled) * (scaled**2).sum()))


def known_user(jobs: pd.DataFrame) -> pd.Series:
    """The column `user`, NaN where nobody knows (empty, or SWF's -1)."""
    user = jobs["user"]
    return user.where(user.notna() & ~user.isin(UNKNOWN))


def per_user(jobs: pd.DataFrame, metric: Callable[[pd.DataFrame], pd.Series] = bounded_slowdown) -> pd.Series:
    """Mean of a per-job metric for each known user, over the jobs for which it is known."""
    return metric(jobs).groupby(known_user(jobs)).mean()


def user_fairness(jobs: pd.DataFrame, metric: Callable[[pd.DataFrame], pd.Series] = bounded_slowdown) -> float:
    """Jain's index over the users' means of a per-job metric."""
    return jain_index(per_user(jobs, metric))


def user_table(jobs: pd.DataFrame) -> pd.DataFrame:
    """A row for each known user, who has done most first: jobs, finished, work (processor seconds), mean wait (s) and slowdown.

    Columns: user, jobs, finished, work, mean_waiting_time, mean_bounded_slowdown.
    """
    user = known_user(jobs)
    columns = {
        "jobs": pd.Series(1, index=jobs.index).groupby(user).sum(),
        "finished": jobs[FINISHED].groupby(user).sum().astype(int),
        "work": area(jobs).groupby(user).sum(),
        "mean_waiting_time": per_user(jobs, waiting_time),
        "mean_bounded_slowdown": per_user(jobs),
    }
    table = pd.DataFrame(columns).rename_axis("user").reset_index()
    return table.sort_values(["work", "user"], ascending=[False, True], kind="stable", ignore_index=True)
