"""Compute the figures of a measurement: means by arm (real or emulated), and how far an emulated mean is from the real
one.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simunix_bench.fidelity.arms import CHARGED, MODELLED, PACED, REAL
from simunix_bench.fidelity.records import Run

AIMS = {CHARGED: 20.0, PACED: 20.0, MODELLED: 30.0}
"""The aims: how far the figures of a full queue may be from the real mean, in per cent, by arm."""
JOB_INFO = "REQUEST_JOB_INFO"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a run of the script with a full queue. `is_judged` means that the project has an aim for it."""

    name: str
    text: str
    unit: str
    scale: float
    of: Callable[[Run], float]
    is_judged: bool = False


def cycle_s(run: Run, moment: str, scheduler: str) -> float:
    """Return the mean cycle, in seconds, of a scheduler, as the sdiag at a moment of the script reported it."""
    return run.diagnoses[moment].means_s[scheduler]


FIGURES = (
    Figure("burst", "burst of `sbatch`: until the last one ended", "s", 1, lambda run: run.bursts["burst"].took_s, True),
    Figure("burst-cpu", "CPU time meanwhile", "s", 1, lambda run: run.bursts["burst"].cpu_s),
    Figure("burst-mean", "an `sbatch` of the burst: mean", "s", 1, lambda run: run.bursts["burst"].mean_s),
    Figure("burst-p95", "an `sbatch` of the burst: 95th percentile", "s", 1, lambda run: run.bursts["burst"].p95_s),
    Figure("more", "`sbatch`, 4 at a time: mean", "ms", 1e3, lambda run: run.bursts["more"].mean_s),
    Figure("main", "main scheduler: mean cycle", "ms", 1e3, lambda run: cycle_s(run, "watched", "main"), True),
    Figure("backfill", "back-filler: mean cycle", "ms", 1e3, lambda run: cycle_s(run, "watched", "backfill"), True),
    Figure("watched-cpu", "CPU time of a minute of both", "s", 1, lambda run: run.diagnoses["watched"].cpu_s),
    Figure("squeue", "`squeue`, 4 at a time: until the last one ended", "s", 1, lambda run: run.bursts["squeue"].took_s),
    Figure("squeue-cpu", "CPU time meanwhile", "s", 1, lambda run: run.bursts["squeue"].cpu_s),
    Figure("squeue-mean", "a `squeue`: mean", "ms", 1e3, lambda run: run.bursts["squeue"].mean_s),
    Figure("job-info", "its RPC in slurmctld: mean", "ms", 1e3, lambda run: run.diagnoses["asked"].rpcs[JOB_INFO][1]),
    Figure(
        "backfill-asked",
        "back-filler beside `squeue`: mean cycle",
        "ms",
        1e3,
        lambda run: cycle_s(run, "asked", "backfill"),
    ),
)


def of_arm(runs: Sequence[Run], arm: str, figure: Figure) -> list[float]:
    """Return a figure for each run of an arm with the script of a full queue."""
    return [figure.of(run) * figure.scale for run in runs if run.arm == arm and run.bursts]


def deviation(runs: Sequence[Run], arm: str, figure: Figure) -> float | None:
    """Return by how many per cent an arm's mean is above the mean of the real runs; None if one of them is missing."""
    real, own = of_arm(runs, REAL, figure), of_arm(runs, arm, figure)
    if not real or not own or not statistics.fmean(real):
        return None
    return 100 * (statistics.fmean(own) / statistics.fmean(real) - 1)


def spread(runs: Sequence[Run], figure: Figure) -> float | None:
    """Return the largest difference of a figure between real runs, in per cent of the least; None with fewer than two
    runs.
    """
    real = of_arm(runs, REAL, figure)
    return 100 * (max(real) / min(real) - 1) if len(real) > 1 and min(real) else None
