"""Compute estimates from an experiment: the mean of each metric in each setting, and its difference from the first
setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from simunix.statistics.difference import Difference, conclude, paired_difference, unpaired_difference
from simunix.statistics.interval import Interval, mean_interval
from simunix.statistics.repetitions import repetitions_needed
from simunix.sweep.analysis.options import WIDTH
from simunix.sweep.analysis.settings import Setting

LEAST_COMMON = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimate of a metric in a setting. `difference` is the difference from the first setting; None for the first
    setting itself.

    `needed` is the number of repetitions, in total, for an interval of the wanted width; None if it is unknown.
    """

    metric: str
    setting: str
    interval: Interval
    difference: Difference | None
    needed: int | None

    @property
    def more(self) -> int | None:
        """How many repetitions are still needed."""
        return None if self.needed is None else max(0, self.needed - self.interval.count)


def estimates(settings: Sequence[Setting], metrics: Sequence[str], width: float = WIDTH) -> list[Estimate]:
    """Return the estimates, metric by metric. The verdicts take into account that many differences are judged together
    (`conclude`).
    """
    found = [_estimate(metric, setting, settings[0], width) for metric in metrics for setting in settings]
    differences = iter(conclude([each.difference for each in found if each.difference is not None]))
    return [each if each.difference is None else replace(each, difference=next(differences)) for each in found]


def _estimate(metric: str, setting: Setting, base: Setting, width: float) -> Estimate:
    values = setting.values(metric)
    interval = mean_interval(values.values())
    needed = repetitions_needed(values.values(), width)
    if needed is not None and interval.relative_width <= width:
        needed = interval.count
    difference = None if setting is base else difference_of(base, setting, metric)
    return Estimate(metric=metric, setting=setting.name, interval=interval, difference=difference, needed=needed)


def difference_of(base: Setting, other: Setting, metric: str) -> Difference:
    """Return the difference of a metric between two settings: paired by common seeds or, with fewer than two of these,
    of the means.
    """
    before, after = base.values(metric), other.values(metric)
    if len(before.keys() & after.keys()) >= LEAST_COMMON:
        return paired_difference(before, after)
    return unpaired_difference(list(before.values()), list(after.values()))


def repetitions_to_do(found: Sequence[Estimate], width: float, done: int) -> int | None:
    """Return the number of repetitions up to which to go on; None if all intervals are narrow enough, or if no number
    would make them so.

    The result is at most twice `done`, since a few repetitions say little about their variance.
    """
    wide = [each for each in found if not each.interval.relative_width <= width]
    needed = [each.needed for each in wide if each.needed is not None]
    if not needed:
        return None
    return max(done + 1, min(max(needed), 2 * done))
