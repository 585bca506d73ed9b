"""Reads and checks a run's table of jobs, jobs.csv, as a data frame; errors say file and line of what is wrong.

Columns (Batsim's names), seconds since the start of the run or trace, NaN for what did not happen:

    submission_time, starting_time, finish_time     moments
    execution_time                                  finish - start, less what `suspended_time` holds
    requested_number_of_resources                   processors
    requested_time                                  limit that the user gave, NaN if none
    suspended_time                                  optional, 0 where absent
    consumed_energy                                 joules; optional, NaN where absent
    restarts, preemptions, lost_core_seconds,
    lost_gpu_seconds, allocated_gpus                of lost runs, and GPUs; optional, NaN where absent
    removal_time                                    when a job that never started left the queue; optional, NaN where absent
    user                                            a name or number; optional, -1 where absent
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from simunix.columns import check_width, rows_of
from simunix.workload.formats.swf import LIMIT

MOMENTS = ("submission_time", "starting_time", "finish_time")
NUMBERS = (*MOMENTS, "execution_time", "requested_number_of_resources", "requested_time")
LOSSES = ("restarts", "preemptions", "lost_core_seconds", "lost_gpu_seconds", "allocated_gpus")
REMOVED = "removal_time"
OPTIONAL = ("suspended_time", "consumed_energy", "waiting_time", "recorded_submission_time", REMOVED, *LOSSES)
REQUIRED = (*MOMENTS, "requested_number_of_resources")
ORDERED = (("submission_time", "starting_time"), ("starting_time", "finish_time"))
RESOLUTION_S = 1.0
"""The resolution, in seconds, of Slurm's accounting, which drops fractions of seconds: a job may seem to start up to
this much before its submission.
"""
EXPECTED = "a jobs.csv, as a run directory has one"
FINISHED = "finished"
"""The column that `job_table` adds: whether the job has started and ended, so that its metrics are known."""


def job_table(columns: pd.DataFrame, source: str = "job table", first_line: int | None = None) -> pd.DataFrame:
    """Return a copy of the table with every column of the module's list as floats, and the column `finished`.

    Error messages begin with `source`. If `first_line` (the line of the first row in that file) is given, error
    messages also name the line of the wrong row. Raises SimunixError for a missing column, text in place of a number,
    fewer than one processor, and moments in the wrong order.
    """
    for name in REQUIRED:
        if name not in columns:
            raise SimunixError(f"{source}: column {name} is missing; a job table has {', '.join(REQUIRED)}")
    table = columns.copy()
    for name in (*NUMBERS, *OPTIONAL):
        if name in table:
            table[name] = numbers(table[name], source, first_line)
    if "suspended_time" not in table:
        table["suspended_time"] = 0.0
    for name in ("requested_time", "consumed_energy", REMOVED, *LOSSES):
        if name not in table:
            table[name] = np.nan
    if "user" not in table:
        table["user"] = -1
    elapsed = table["finish_time"] - table["starting_time"] - table["suspended_time"].fillna(0.0)
    table["execution_time"] = table["execution_time"].fillna(elapsed) if "execution_time" in table else elapsed
    _check(table, source, first_line)
    table[FINISHED] = table["starting_time"].notna() & table["finish_time"].notna()
    return table


def numbers(column: pd.Series, source: str, first_line: int | None) -> pd.Series:
    """Return a column as floats, NaN for empty fields. Raises SimunixError for texts and for impossibly large numbers."""
    found = as_floats(column)
    wrong = (found.isna() & column.notna()) | (found.abs() >= LIMIT)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        got = str(column.iloc[row])[:60]
        raise SimunixError(f"{_where(source, first_line, row)}: {column.name}: expected a number, got {got!r}")
    return found


def as_floats(column: pd.Series) -> pd.Series:
    """Return a column as floats: NaN for texts that are no number, infinity for numbers that are too large."""
    try:
        return pd.to_numeric(column, errors="coerce").astype(float)
    except OverflowError:
        return column.map(lambda value: as_floats(pd.Series([value])).iloc[0] if len(str(value)) < 300 else np.inf)


def _check(table: pd.DataFrame, source: str, first_line: int | None) -> None:
    started = table["starting_time"].notna()
    small = started & ~(table["requested_number_of_resources"] >= 1)
    if small.any():
        row = int(np.flatnonzero(small)[0])
        raise SimunixError(f"{_where(source, first_line, row)}: requested_number_of_resources: a job that ran had at least 1")
    for earlier, later in ORDERED:
        wrong = table[later] < table[earlier]
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            values = f"{table[later].iloc[row]:g} is before {earlier} {table[earlier].iloc[row]:g}"
            raise SimunixError(f"{_where(source, first_line, row)}: {later} {values}")
    if (table["execution_time"] < 0).any():
        row = int(np.flatnonzero(table["execution_time"] < 0)[0])
        raise SimunixError(f"{_where(source, first_line, row)}: execution_time is below zero")


def _where(source: str, first_line: int | None, row: int) -> str:
    return f"{source}: row {row + 1}" if first_line is None else f"{source}:{first_line + row}"


def settled(table: pd.DataFrame) -> pd.DataFrame:
    """Return the jobs with each submission time lowered to the start where the job seems to start up to RESOLUTION_S
    before its submission.

    Raises KeyError if a column is missing.
    """
    submitted, started = as_floats(table["submission_time"]), as_floats(table["starting_time"])
    early = (started < submitted) & (submitted - started < RESOLUTION_S)
    return table.assign(submission_time=table["submission_time"].where(~early, table["starting_time"]))


def check_shape(path: Path, expected: str) -> None:
    """Raise SimunixError, with file and line, if two columns have one name, or a row has more or fewer fields than
    there are columns.

    pandas would accept a row that is too short, with empty last columns, and would shift the columns of a row that is
    too long.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = rows_of(path, file, SimunixError, expected)
            _, columns = next(rows, (1, []))
            if len(set(columns)) != len(columns):
                raise SimunixError(f"{path}:1: two columns of one name; expected {expected}")
            for line, row in rows:
                if row:
                    check_width(path, line, row, columns, SimunixError)
    except OSError as error:
        raise SimunixError(f"{path}: {error.strerror}; expected {expected}") from error


def read_columns(path: Path, texts: Sequence[str], required: Sequence[str] = (), expected: str = EXPECTED) -> pd.DataFrame:
    """Read the columns of a jobs.csv, of which only the presence of the `required` ones is checked; `texts` are read as texts.

    Raises SimunixError, which says what was `expected` if the file cannot be read.
    """
    check_shape(path, expected)
    try:
        columns = pd.read_csv(path, dtype=dict.fromkeys(texts, str), encoding="utf-8")
    except (OSError, ValueError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        reason = getattr(error, "strerror", None) or str(error).strip().splitlines()[-1]
        raise SimunixError(f"{path}: {reason}; expected {expected}") from error
    for name in required:
        if name not in columns:
            raise SimunixError(f"{path}: column {name} is missing; expected {EXPECTED}")
    return columns


def read_jobs_csv(path: Path) -> pd.DataFrame:
    """Read the job table from a jobs.csv of simunix (then `settled` is applied) or of Batsim. Raises SimunixError with
    file and line.
    """
    columns = read_columns(path, ("job_id", "allocated_resources", "metadata"))
    has_both = {"submission_time", "starting_time"} <= set(columns)
    return job_table(settled(columns) if has_both else columns, str(path), first_line=2)
