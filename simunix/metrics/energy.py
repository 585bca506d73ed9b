"""Energy, from the column `consumed_energy` (joules) of a job table: NaN where nobody measured it, as in every run so far."""

from __future__ import annotations

import pandas as pd

from simunix.metrics.per_job import area


def consumed_energy(jobs: pd.DataFrame) -> float:
    """Joules of all jobs; NaN if none is known."""
    return float(jobs["consumed_energy"].sum(min_count=1))


def mean_power(jobs: pd.DataFrame) -> pd.Series:
    """Watts of each job while it ran: joules / run time; NaN for a job of no time."""
    runtime = jobs["execution_time"]
    return jobs["consumed_energy"] / runtime.where(runtime > 0)


def energy_per_work(jobs: pd.DataFrame) -> float:
    """Joules per processor second, over the jobs whose energy is known; NaN for none."""
    work = area(jobs)[jobs["consumed_energy"].notna()].sum()
    return consumed_energy(jobs) / work if work > 0 else float("nan")
