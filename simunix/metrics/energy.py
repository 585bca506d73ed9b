"""Energy of jobs, from the column `consumed_energy` (joules) of a job table, and of machines; energies are NaN if hosts
have no watts.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from simunix.metrics.per_job import area


def consumed_energy(jobs: pd.DataFrame) -> float:
    """Return the joules that all jobs consumed together; NaN if no job's energy is known."""
    return float(jobs["consumed_energy"].sum(min_count=1))


def energy_between(power: pd.DataFrame, begin_s: float, end_s: float) -> float:
    """Return the joules of a step function with columns time (s) and watts over [begin_s, end_s); NaN for an empty window.

    Before its first step the power is 0.
    """
    if power.empty or not begin_s < end_s:
        return float("nan")
    edges = np.clip(np.append(power["time"].to_numpy(dtype=float), np.inf), begin_s, end_s)
    return float((power["watts"].to_numpy(dtype=float) * np.diff(edges)).sum())


def mean_power(jobs: pd.DataFrame) -> pd.Series:
    """Return the mean power of each job in watts: joules / run time; NaN for a run time of 0."""
    runtime = jobs["execution_time"]
    return jobs["consumed_energy"] / runtime.where(runtime > 0)


def energy_per_work(jobs: pd.DataFrame) -> float:
    """Return joules per processor second, over the jobs whose energy is known; NaN if there is no such job."""
    work = area(jobs)[jobs["consumed_energy"].notna()].sum()
    return consumed_energy(jobs) / work if work > 0 else float("nan")
