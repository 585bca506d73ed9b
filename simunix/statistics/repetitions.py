"""Compute how many repetitions are needed for a confidence interval of a given width."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, sqrt

import numpy as np
from scipy import stats

from simunix.statistics.interval import CONFIDENCE

LIMIT = 1_000_000
"""The largest answer. An interval around a mean near 0 never becomes narrow relative to that mean."""


def repetitions_needed(values: Iterable[float], width: float, confidence: float = CONFIDENCE) -> int | None:
    """Return the least number of repetitions, in total, whose interval is expected to be `width` × |mean| wide.

    `width` is a part of the mean (0.05 for 5 %), from the lower end to the upper. The smallest n with
    2 t(n − 1) s / √n ≤ width · |mean| is sought, with the standard deviation s of the values that there are. None: fewer than
    two finite values, or more than LIMIT. Raises ValueError for a width that is not above 0.
    """
    if not width > 0:
        raise ValueError(f"width: expected a part of the mean above 0, such as 0.05, got {width}")
    known = np.array([value for value in map(float, values) if isfinite(value)])
    if len(known) < 2:
        return None
    deviation, aim = float(known.std(ddof=1)), width * abs(float(known.mean()))
    if deviation == 0:
        return 2
    low, high = 2, LIMIT
    if _width(deviation, high, confidence) > aim:
        return None
    while low < high:
        middle = (low + high) // 2
        if _width(deviation, middle, confidence) <= aim:
            high = middle
        else:
            low = middle + 1
    return low


def _width(deviation: float, count: int, confidence: float) -> float:
    return float(2 * stats.t.ppf((1 + confidence) / 2, count - 1) * deviation / sqrt(count))
