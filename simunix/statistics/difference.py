"""Compute differences between two settings (paired by common seeds if there are any), and what may be concluded from
several differences.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan, sqrt
from typing import TypeVar

import numpy as np
from scipy import stats

from simunix.statistics.interval import BOOTSTRAP, CONFIDENCE, RESAMPLES, SEED, STUDENT, Interval, expanded_tail, mean_interval
from simunix.statistics.interval import LEAST_IN_TAIL as LEAST

Key = TypeVar("Key", bound=Hashable)
DIFFERS, NO_DIFFERENCE, TOO_FEW = "difference", "no difference", "too few repetitions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The difference between the mean in one setting and the mean in another, the base.

    `interval` has the unit of the values, and `base` is the base's mean. `p_value` is the probability that chance alone
    gives such a difference (Student's test, paired, or Welch's). `adjusted_p` is that probability after `conclude`, for
    several differences together. If `is_paired`, runs with common seeds were compared, so that equal influences of
    chance on both settings cancel.
    """

    interval: Interval
    base: float
    p_value: float
    is_paired: bool
    adjusted_p: float = nan

    @property
    def relative(self) -> float:
        """The difference as a part of the base's mean; NaN for a base of 0."""
        return self.interval.mean / abs(self.base) if self.base else nan

    @property
    def verdict(self) -> str:
        """The verdict on the difference: DIFFERS, NO_DIFFERENCE or TOO_FEW.

        DIFFERS means that the interval does not contain 0, and that the difference is significant among all differences
        that are judged together.
        """
        if not isfinite(self.interval.width):
            return TOO_FEW
        p_value = self.p_value if np.isnan(self.adjusted_p) else self.adjusted_p
        is_told = not self.interval.holds_zero and p_value <= 1 - self.interval.confidence
        return DIFFERS if is_told else NO_DIFFERENCE

    @property
    def differs_alone(self) -> bool:
        """Whether the interval does not contain 0 although the verdict is NO_DIFFERENCE. Among many differences, chance
        alone makes some like this.
        """
        return self.verdict == NO_DIFFERENCE and not self.interval.holds_zero


def paired_difference(base: Mapping[Key, float], other: Mapping[Key, float], confidence: float = CONFIDENCE) -> Difference:
    """Return the mean of `other` − `base` over the common keys (seeds) whose values are finite in both settings."""
    common = [key for key in base if key in other and isfinite(base[key]) and isfinite(other[key])]
    differences = [float(other[key] - base[key]) for key in common]
    interval = mean_interval(differences, confidence)
    mean = float(np.mean([base[key] for key in common])) if common else nan
    return Difference(interval=interval, base=mean, p_value=_p_value(interval, differences), is_paired=True)


def unpaired_difference(base: Sequence[float], other: Sequence[float], confidence: float = CONFIDENCE) -> Difference:
    """Return the difference of the means of two independent samples, with a bootstrap interval or, for few values,
    Welch's.
    """
    first, second = (np.array([value for value in map(float, each) if isfinite(value)]) for each in (base, other))
    mean = float(first.mean()) if len(first) else nan
    value = float(second.mean()) - mean if len(second) else nan
    count = min(len(first), len(second))
    interval = Interval(mean=value, low=nan, high=nan, count=count, confidence=confidence)
    if count < 2:
        return Difference(interval=interval, base=mean, p_value=nan, is_paired=False)
    if np.ptp(first) == 0 and np.ptp(second) == 0:
        exact = replace(interval, low=value, high=value, method=STUDENT)
        return Difference(interval=exact, base=mean, p_value=float(value == 0), is_paired=False)
    welch = stats.ttest_ind(second, first, equal_var=False)
    tail = expanded_tail(count, confidence)
    if tail * RESAMPLES < LEAST:
        found, method = welch.confidence_interval(confidence), STUDENT
    else:
        found, method = _resampled(first, second, tail), BOOTSTRAP
    interval = replace(interval, low=float(found.low), high=float(found.high), method=method)
    return Difference(interval=interval, base=mean, p_value=float(welch.pvalue), is_paired=False)


def conclude(differences: Sequence[Difference], tables: int = 1) -> list[Difference]:
    """Return the differences with `adjusted_p`, computed by Holm's step-down method (Scandinavian Journal of Statistics
    6, 1979).

    With this method, at most one table in twenty, whatever its size, reports a difference although there is none. If
    one conclusion is drawn from several `tables`, this probability is divided among them (Bonferroni).
    """
    known = [(each.p_value, rank) for rank, each in enumerate(differences) if isfinite(each.p_value)]
    adjusted = [nan] * len(differences)
    highest = 0.0
    for place, (p_value, rank) in enumerate(sorted(known)):
        highest = max(highest, min(1.0, p_value * tables * (len(known) - place)))
        adjusted[rank] = highest
    return [replace(each, adjusted_p=value) for each, value in zip(differences, adjusted, strict=True)]


def _p_value(interval: Interval, differences: Sequence[float]) -> float:
    if not isfinite(interval.width):
        return nan
    if interval.width == 0:
        return float(interval.mean == 0)
    error = float(np.std(differences, ddof=1)) / sqrt(len(differences))
    if error == 0:  # the values differ by less than floating-point numbers can represent
        return float(interval.holds_zero)
    return float(2 * stats.t.sf(abs(interval.mean) / error, len(differences) - 1))


def _resampled(first: np.ndarray, second: np.ndarray, tail: float) -> Interval:
    """Return the percentile interval of the difference of two independent means; the part `tail` of the resampled
    values lies beyond each end.
    """

    def difference(one: np.ndarray, two: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.asarray(two.mean(axis=axis) - one.mean(axis=axis))

    found = stats.bootstrap(
        (first, second),
        difference,
        n_resamples=RESAMPLES,
        confidence_level=1 - 2 * tail,
        method="percentile",
        vectorized=True,
        random_state=np.random.default_rng(SEED),
    ).confidence_interval
    return Interval(mean=nan, low=float(found.low), high=float(found.high), count=0)
