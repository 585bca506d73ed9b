"""Check the CSV files of a run that no report shows, so that a damaged run directory is noticed."""

from __future__ import annotations

from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.columns import EXPECTED, Kind, number, number_or_nothing, read_columns, whole
from simunix.results.energy import CONSUMED, ENERGY, PSTATES
from simunix.results.machines import parse_intervals

MEND = "give the folder of a run as simunix run left it"


def _number_or_na(text: str) -> float | None:
    """Return the finite number that a text means; None for NA, which Batsim writes for unknown values. Raises
    ValueError for any other text.
    """
    return None if text == "NA" else number(text)


EXPECTED[_number_or_na] = "a number or NA"
EXPECTED[parse_intervals] = "machines such as 0-3 5"

FILES: dict[str, tuple[tuple[str, ...], tuple[Kind, ...]]] = {
    "energy.csv": (ENERGY, (str, str, number, number_or_nothing)),
    "consumed_energy.csv": (CONSUMED, (number, number, str, number, _number_or_na)),
    "pstate_changes.csv": (PSTATES, (number, parse_intervals, whole)),
}
"""The columns of the CSV files that no report shows, and the functions that convert the columns' fields."""


def check_other_files(directory: Path) -> None:
    """Raise SimunixError with file, line and column if an existing file of FILES is wrong."""
    for name, (columns, kinds) in FILES.items():
        path = directory / name
        if path.exists():
            for _ in read_columns(path, columns, kinds, SimunixError, MEND):
                pass
