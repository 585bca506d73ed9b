"""Statistics over repetitions of a run: deviations of the sample and of the population, confidence intervals of the mean."""

from __future__ import annotations

import math

import pandas as pd


def sample_deviation(values: pd.Series) -> float:
    """Return sqrt(sum (x - mean)^2 / (n - 1)), which estimates the deviation of the source; NaN for fewer than 2 values."""
    return float(values.std(ddof=1))


def population_deviation(values: pd.Series) -> float:
    """Return sqrt(sum (x - mean)^2 / n), the deviation of just these values. (Barberato's tables call it the sample's.)"""
    return float(values.std(ddof=0))


def relative_deviation(values: pd.Series) -> float:
    """Return sample deviation / mean, without unit."""
    return sample_deviation(values) / float(values.mean())


def confidence_half_width(values: pd.Series, level: float = 0.95) -> float:
    """Return half the width of the two-sided confidence interval of the mean, t(n - 1) s / sqrt(n); NaN below 2 values.

    t is the quantile of Student's distribution, so the values should be normally distributed. Raises ValueError for a
    level outside (0, 1).
    """
    from scipy.stats import t

    if not 0 < level < 1:
        raise ValueError(f"level: expected a number between 0 and 1, got {level}")
    known = values.dropna()
    if len(known) < 2:
        return math.nan
    return float(t.ppf((1 + level) / 2, len(known) - 1)) * sample_deviation(known) / math.sqrt(len(known))
