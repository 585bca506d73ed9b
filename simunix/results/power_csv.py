"""Read step functions of time from a run directory: power.csv and machine_states.csv, checked line by line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from simunix.results.job_table import numbers, read_columns

FIRST_LINE = 2
FILE = "power.csv"
WATTS = "power.csv: columns time, watts and cap as simunix run writes them"
CAP = "cap"


def read_power(directory: Path) -> pd.DataFrame | None:
    """Return time (s), watts and power cap (W, NaN for none) from a run's power.csv; None without the file. Raises
    SimunixError for a malformed file.
    """
    return read_steps(directory / FILE, ("time", "watts", CAP), WATTS)


def read_steps(path: Path, columns: Sequence[str], expected: str) -> pd.DataFrame | None:
    """Return these columns as floats, with NaN only where no power cap applies; None without the file.

    The text of a SimunixError contains line and column.
    """
    if not path.exists():
        return None
    table = read_columns(path, (), columns, expected)
    for name in columns:
        table[name] = numbers(table[name], str(path), FIRST_LINE)
        if name != CAP and table[name].isna().any():
            line = FIRST_LINE + int(np.flatnonzero(table[name].isna())[0])
            raise SimunixError(f"{path}:{line}: {name}: expected a number, got nothing")
    early = np.flatnonzero(np.diff(table["time"].to_numpy(dtype=float)) < 0)
    if len(early):
        line = FIRST_LINE + 1 + int(early[0])
        raise SimunixError(f"{path}:{line}: time: {table['time'].iloc[early[0] + 1]:g} is before that of the line above")
    return table
