"""Compute curves of each setting with bands over its repetitions: distributions of waits and slowdowns, queue length
and utilisation over time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from simunix.metrics.per_job import bounded_slowdown, waiting_time
from simunix.metrics.series import busy_processors, mean_over_bins, queued_jobs
from simunix.report.run_data import Run as RunData
from simunix.report.run_data import read_run
from simunix.sweep.analysis.settings import Setting
from simunix.sweep.child import run_folder

POINTS = 200
BINS = 120
LOW, HIGH = 0.05, 0.95
"""The quantiles of the ends of a band, between which nine tenths of the repetitions lie at each point."""


@dataclass(frozen=True, slots=True)
class Band:
    """The curve of a setting. `y` is, for each `x`, the median of the repetitions; the band's ends are the values that
    5 % and 95 % of them do not exceed.
    """

    setting: str
    x: np.ndarray
    middle: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, slots=True)
class Repetitions:
    """The runs of a setting that have jobs."""

    setting: str
    runs: tuple[RunData, ...]


def read_repetitions(settings: Sequence[Setting], out: Path) -> list[Repetitions]:
    """Read the finished runs of all settings; those without jobs are left out."""
    found = []
    for setting in settings:
        read = [read_run(run_folder(out, run)) for run in setting.runs.values()]
        found.append(Repetitions(setting.name, tuple(run for run in read if run.counted is not None and len(run.counted))))
    return [each for each in found if each.runs]


def distributions(repetitions: Sequence[Repetitions], metric: Callable[[pd.DataFrame], pd.Series]) -> list[Band]:
    """Return, for each setting, the share of the jobs, in per cent, whose metric is at most x. The x are quantiles over
    all runs together.
    """
    values = {each.setting: [_finite(metric(_counted(run))) for run in each.runs] for each in repetitions}
    known = [one for own in values.values() for one in own if len(one)]
    if not known:
        return []
    x = np.unique(np.quantile(np.concatenate(known), np.linspace(0, 1, POINTS)))
    return [
        _band(setting, x, [100 * np.searchsorted(one, x, side="right") / len(one) for one in own if len(one)])
        for setting, own in values.items()
        if any(map(len, own))
    ]


def waits(repetitions: Sequence[Repetitions]) -> list[Band]:
    """Return the distributions of the waits, in seconds, for each setting."""
    return distributions(repetitions, waiting_time)


def slowdowns(repetitions: Sequence[Repetitions]) -> list[Band]:
    """Return the distributions of the bounded slowdowns, for each setting."""
    return distributions(repetitions, bounded_slowdown)


def queues(repetitions: Sequence[Repetitions]) -> list[Band]:
    """Return the number of waiting jobs over virtual time, in seconds, for each setting."""
    return _over_time(repetitions, lambda _, jobs: queued_jobs(jobs[jobs["submission_time"].notna()]))


def utilisations(repetitions: Sequence[Repetitions]) -> list[Band]:
    """Return the share of the cores that jobs hold, in per cent, over virtual time, in seconds, for each setting."""
    return _over_time(
        repetitions, lambda run, jobs: busy_processors(jobs[jobs["starting_time"].notna()]) * 100 / run.processors
    )


def _over_time(repetitions: Sequence[Repetitions], steps: Callable[[RunData, pd.DataFrame], pd.Series]) -> list[Band]:
    ends = [float(run.jobs["finish_time"].max()) for each in repetitions for run in each.runs if run.jobs is not None]
    end_s = max((end for end in ends if np.isfinite(end)), default=0.0)
    if end_s <= 0:
        return []
    edges = np.linspace(0.0, end_s, BINS + 1)
    x = (edges[:-1] + edges[1:]) / 2
    return [
        _band(each.setting, x, [mean_over_bins(steps(run, run.jobs), edges) for run in each.runs if run.jobs is not None])
        for each in repetitions
    ]


def _band(setting: str, x: np.ndarray, curves: Sequence[np.ndarray]) -> Band:
    stacked = np.vstack(curves)
    low, middle, high = np.quantile(stacked, [LOW, 0.5, HIGH], axis=0)
    return Band(setting, x, middle, low, high)


def _counted(run: RunData) -> pd.DataFrame:
    assert run.counted is not None
    return run.counted


def _finite(values: pd.Series) -> np.ndarray:
    found = values.to_numpy(dtype=float)
    return np.sort(found[np.isfinite(found)])
