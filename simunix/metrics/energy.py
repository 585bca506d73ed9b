"""Energy, from the column `consumed_energy` (joules) of a job table; NaN where hosts have no watts."""

from __future__ import annotations

import pandas as pd

from simunix.metrics.per_job import area


def consumed_energy(jobs: pd.DataFrame) -> float:
    """Return the joules of all jobs; NaN if no job's energy is known."""
    return float(jobs["consumed_energy"].sum(min_count=1))


def mean_power(jobs: pd.DataFrame) -> pd.Series:
    """Return the mean power of each job in watts: joules / run time; NaN for a run time of 0."""
    runtime = jobs["execution_time"]
    return jobs["consumed_energy"] / runtime.where(runtime > 0)


def energy_per_work(jobs: pd.DataFrame) -> float:
    """Return joules per processor second, over the jobs whose energy is known; NaN if there is no such job."""
    work = area(jobs)[jobs["consumed_energy"].notna()].sum()
    return consumed_energy(jobs) / work if work > 0 else float("nan")
