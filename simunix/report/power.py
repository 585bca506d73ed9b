"""Read power.csv and machine_states.csv: the power of runs and their power caps over time, and what cores did."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from simunix.report.comparison import POINTS_MAX, Curves
from simunix.report.run_data import Run
from simunix.results.power_csv import read_power, read_steps

BANDS = ("nb_computing", "nb_idle", "nb_switching_on", "nb_switching_off", "nb_sleeping")
"""The states of cores in machine_states.csv, in the order in which they are drawn from below."""


def power(runs: Sequence[Run], end_s: float) -> tuple[Curves, Curves] | None:
    """Return the power of all nodes and enclosures of each run over time, in watts, and its power caps (NaN outside of
    their windows); None if no run has watts.

    A curve with many changes becomes the largest power in each of equal intervals, so that a violated cap is visible.
    """
    tables = [read_power(run.directory) for run in runs]
    known = [table["time"].to_numpy(dtype=float) for table in tables if table is not None]
    if not known:
        return None
    moments = np.unique(np.concatenate([[0.0, end_s], *known]))
    moments = moments[moments <= end_s]
    if len(moments) <= POINTS_MAX:
        return tuple(Curves(moments, [_steps(table, name, moments) for table in tables]) for name in ("watts", "cap"))  # type: ignore[return-value]
    edges = np.linspace(0.0, end_s, POINTS_MAX + 1)
    watts = [_largest(table, edges) for table in tables]
    return Curves(edges, watts, end_s / POINTS_MAX), Curves(edges, [_steps(table, "cap", edges) for table in tables])


def bands(run: Run, end_s: float) -> Curves | None:
    """Return how many cores were in each state of BANDS over time; None for a run whose hosts have no watts, or without
    jobs.
    """
    if not (run.directory / "power.csv").exists():
        return None
    table = read_steps(run.directory / "machine_states.csv", ("time", *BANDS), "Batsim's machine_states.csv")
    if table is None:
        return None
    moments = np.unique(np.append(table["time"].to_numpy(dtype=float), end_s))
    moments = moments[moments <= end_s]
    if len(moments) > POINTS_MAX:
        moments = np.linspace(0.0, end_s, POINTS_MAX + 1)
    return Curves(moments, [_steps(table, name, moments) for name in BANDS])


def _steps(table: pd.DataFrame | None, name: str, moments: np.ndarray) -> np.ndarray:
    """Return the values of a step function at given moments; NaN for a run without the function, and where it has no
    value.
    """
    if table is None or table.empty:
        return np.full(len(moments), np.nan)
    places = np.searchsorted(table["time"].to_numpy(dtype=float), moments, "right") - 1
    values = pd.to_numeric(table[name], errors="coerce").to_numpy(dtype=float)
    found: np.ndarray = np.where(places >= 0, values[np.clip(places, 0, None)], np.nan)
    return found


def _largest(table: pd.DataFrame | None, edges: np.ndarray) -> np.ndarray:
    """Return the largest value between consecutive edges, at the first edge of each interval. The last value occurs
    twice, so that the curve has an end.
    """
    if table is None or table.empty:
        return np.full(len(edges), np.nan)
    found = _steps(table, "watts", edges)
    places = np.clip(np.searchsorted(edges, table["time"].to_numpy(dtype=float), "right") - 1, 0, len(edges) - 1)
    np.fmax.at(found, places, table["watts"].to_numpy(dtype=float))
    found[-1] = found[-2]
    return found
