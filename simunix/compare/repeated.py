"""Evaluates the repetitions of a comparison: the runs of each variant by their seeds, and which changes are more than noise.

The base's run and the variant's run with one seed form a pair, so that a perturbation which the seed causes in both
cancels. Each seed gives one observation.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
import pandas as pd

from simunix.metrics.catalog import BY_NAME, Metric
from simunix.metrics.changes import GROUPS, KEY, SAME_S, by_group, pairs
from simunix.metrics.written import is_shown
from simunix.report.run_data import Run
from simunix.statistics.difference import DIFFERS, Difference, conclude, paired_difference
from simunix.statistics.interval import CONFIDENCE

DECISIVE = (
    "mean_waiting_time",
    "mean_bounded_slowdown",
    "lost_core_seconds",
    "lost_gpu_seconds",
    "machine_energy",
    "makespan",
    "utilisation",
    "restarts",
    "preemptions",
)
"""The metrics from which a conclusion is drawn; the first one decides.

Each says whether a lower or a higher value is better.
"""
TABLES = 2
"""The number of tables behind a conclusion: that of the metrics and that of the users.

In both together, one difference in twenty may be reported by chance.
"""
MOMENTS = ("submission_time", "starting_time", "finish_time")


@dataclass(frozen=True, slots=True)
class Effect:
    """How much a metric changes from the base to a variant; `base` and `other` are its means over the seeds that both have."""

    metric: Metric
    difference: Difference
    base: float
    other: float

    @property
    def is_better(self) -> bool:
        """Whether the change, if there is any, is an improvement."""
        return (self.difference.interval.mean < 0) == bool(self.metric.less_is_better)

    @property
    def differs(self) -> bool:
        """Whether the change is more than noise."""
        return self.difference.verdict == DIFFERS


@dataclass(frozen=True)
class Repetitions:
    """The runs of a base and of one variant by common seeds; at least one."""

    base: Mapping[int, Run]
    other: Mapping[int, Run]

    @cached_property
    def seeds(self) -> list[int]:
        """The seeds that carry information: all common seeds, or only one if all repetitions are equal."""
        common = [seed for seed in self.base if seed in self.other]
        are_equal = all(_equal([runs[seed] for seed in common]) for runs in (self.base, self.other))
        return common[:1] if are_equal else common

    @cached_property
    def effects(self) -> list[Effect]:
        """The effects on the metrics DECISIVE that the runs have; their intervals are adjusted for the number of these
        metrics.
        """
        found = []
        for metric in map(BY_NAME.__getitem__, DECISIVE):
            base, other = (
                _by_seed({seed: float(runs[seed].summary.get(metric.name, np.nan)) for seed in self.seeds})
                for runs in (self.base, self.other)
            )
            known = [seed for seed in self.seeds if np.isfinite(base[seed]) and np.isfinite(other[seed])]
            if known and is_shown(metric, [*base.values(), *other.values()]):
                means = (float(np.mean([side[seed] for seed in known])) for side in (base, other))
                found.append(Effect(metric, paired_difference(base, other), *means))
        adjusted = conclude([one.difference for one in found], TABLES)
        return [Effect(one.metric, each, one.base, one.other) for one, each in zip(found, adjusted, strict=True)]

    @cached_property
    def pairs(self) -> dict[int, pd.DataFrame]:
        """The pair table of each seed."""
        found = {}
        for seed in self.seeds:
            base, other = self.base[seed].counted, self.other[seed].counted
            if base is not None and other is not None:
                found[seed] = pairs(base, other)
        return found

    @cached_property
    def groups(self) -> dict[str, dict[str, Difference]]:
        """The change of each group's mean wait, by kind of group and by name; the intervals are adjusted for the number
        of groups of the kind.
        """
        return {kind: self._groups(kind) for kind in GROUPS}

    def _groups(self, kind: str) -> dict[str, Difference]:
        sides: dict[str, tuple[dict[Hashable, float], dict[Hashable, float]]] = {}
        for seed, table in self.pairs.items():
            groups = by_group(table, kind)
            for name, base, change in zip(groups["name"], groups["wait_base"], groups["wait_change"], strict=True):
                own = sides.setdefault(str(name), ({}, {}))
                own[0][seed], own[1][seed] = float(base), float(base + change)
        names = list(sides)
        return dict(zip(names, conclude([paired_difference(*sides[name]) for name in names], TABLES), strict=True))

    def moved_jobs(self, most: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the jobs that start earlier by most, and those that start later by most, over all seeds.

        The rows are those of a pair table: `wait_*` and `change` are means, `low` and `high` the ends of Student's
        interval of the change. A job is listed if it starts in both runs with at least two seeds, and if no change of
        SAME_S or less lies in its interval. The changes are significant among those of all jobs, by the method of
        Benjamini and Hochberg (Journal of the Royal Statistical Society B 57, 1995): of the listed jobs, one in twenty
        is there by chance.
        """
        from scipy.stats import false_discovery_control, t

        index = [table.set_index(list(KEY)) for table in self.pairs.values()]
        first = index[0]
        means = {name: _across(index, name) for name in ("change", "wait_base", "wait_other")}
        changes = pd.concat([one["change"] for one in index], axis=1).reindex(first.index)
        count = changes.notna().sum(axis=1)
        error, degrees = changes.std(axis=1, ddof=1) / count.pow(0.5), (count - 1).clip(lower=1)
        half = error * t.ppf((1 + CONFIDENCE) / 2, degrees)
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = 2 * t.sf(np.abs(means["change"] / error), degrees)  # a job that never moves gives 0 / 0
        found = first.assign(
            **means, low=means["change"] - half, high=means["change"] + half, chance=np.nan_to_num(chance, nan=1.0)
        )[count >= 2].reset_index()
        found = found[false_discovery_control(found.pop("chance")) <= 1 - CONFIDENCE]
        earlier = found[found["high"] < -SAME_S].sort_values("change", kind="stable")
        later = found[found["low"] > SAME_S].sort_values("change", ascending=False, kind="stable")
        return earlier.head(most), later.head(most)


def _by_seed(values: Mapping[int, float]) -> dict[Hashable, float]:
    return {seed: value for seed, value in values.items()}  # noqa: C416 - a wider type of keys


def _across(tables: list[pd.DataFrame], column: str) -> pd.Series:
    """Return the mean of a column over several tables, for the rows of the first table."""
    return pd.concat([one[column] for one in tables], axis=1).mean(axis=1).reindex(tables[0].index)


def _equal(runs: list[Run]) -> bool:
    """Return whether the jobs of all runs have equal moments, as in repetitions without perturbation."""
    tables = [run.counted for run in runs]
    if any(table is None for table in tables):
        return True
    values = [table[list(MOMENTS)].to_numpy(dtype=float) for table in tables if table is not None]
    return all(one.shape == values[0].shape and np.array_equal(one, values[0], equal_nan=True) for one in values)


def needed(difference: Difference) -> int | None:
    """Return how many repetitions would tell a difference of this size from chance, by the observed spread; None if
    unknown or too many.

    The half width w of the interval falls with the square root of the number n of repetitions, so n (w / d)²
    repetitions have a half width equal to the difference d.
    """
    interval = difference.interval
    if not np.isfinite(interval.width) or interval.mean == 0:
        return None
    factor = interval.width / 2 / abs(interval.mean)
    found = int(np.ceil(interval.count * max(factor, 1 / sqrt(interval.count)) ** 2)) + 1
    return found if found <= NEEDED_MAX else None


NEEDED_MAX = 1000
"""The most repetitions that are advised."""
