"""How evenly users are served."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from simunix.metrics.per_job import bounded_slowdown


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


def per_user(jobs: pd.DataFrame, metric: Callable[[pd.DataFrame], pd.Series] = bounded_slowdown) -> pd.Series:
    """Mean of a per-job metric for each user, over the jobs for which it is known."""
    return metric(jobs).groupby(jobs["user"]).mean()


def user_fairness(jobs: pd.DataFrame, metric: Callable[[pd.DataFrame], pd.Series] = bounded_slowdown) -> float:
    """Jain's index over the users' means of a per-job metric."""
    return jain_index(per_user(jobs, metric))
