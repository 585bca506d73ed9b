"""Numbers over repetitions of a run: deviations of sample and population told apart, confidence intervals of the mean."""

from __future__ import annotations

import math

import pandas as pd


def sample_deviation(values: pd.Series) -> float:
    """sqrt(sum (x - mean)^2 / (n - 1)), the estimate for what the values were drawn from; NaN for fewer than 2."""
    return float(values.std(ddof=1))


def population_deviation(values: pd.Series) -> float:
    """sqrt(sum (x - mean)^2 / n), of just these values. (Tables of Barberato's thesis call this one the sample's.)"""
    return float(values.std(ddof=0))


def relative_deviation(values: pd.Series) -> float:
    """Sample deviation / mean, without unit."""
    return sample_deviation(values) / float(values.mean())


def confidence_half_width(values: pd.Series, level: float = 0.95) -> float:
    """Half of the two-sided confidence interval of the mean, t(n - 1) s / sqrt(n); NaN for fewer than 2 values.

    Student's t, for values that are normally distributed. Raises ValueError for a level outside (0, 1).
    """
    from scipy.stats import t

    if not 0 < level < 1:
        raise ValueError(f"level: expected a number between 0 and 1, got {level}")
    known = values.dropna()
    if len(known) < 2:
        return math.nan
    return float(t.ppf((1 + level) / 2, len(known) - 1)) * sample_deviation(known) / math.sqrt(len(known))
