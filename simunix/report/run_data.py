"""Read the files of a run directory that reports need: run.json, jobs.csv and machines.csv, as far as the run wrote
them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from simunix.launch.debug.observation import LINKS_FILE
from simunix.metrics.jobs import job_table, settled, why_invalid, without_context
from simunix.results.job_table import numbers, read_columns
from simunix.results.jobs_csv import UNKNOWN
from simunix.results.link_usage import Usage, read_usage
from simunix.results.machines import Machines, read_machines
from simunix.results.other_files import check_other_files
from simunix.results.power_csv import read_power
from simunix.results.run_json import read_record
from simunix.results.storage_usage import StorageUse, read_storage_use

OF_ALL_ENDS = ("makespan", "utilisation", "throughput", "machine_energy")
"""The metrics that are unknown as long as the end of any job is unknown."""
WHOLE, STEADY = "whole", "steady"
"""The names of the windows: all jobs count, or only those submitted in the steady state."""
MARKS = ("run.json", "events.jsonl", "jobs.csv")
"""The files of which a run directory has at least one. (Batsim's output folders have the last one.)"""


@dataclass
class Run:
    """A run. `jobs` is a job table (`simunix.metrics.jobs`), None for a run without jobs; `record` is run.json, or empty."""

    directory: Path
    label: str
    record: dict[str, Any]
    jobs: pd.DataFrame | None
    machines: Machines | None
    notes: list[str] = field(default_factory=list)
    window: str = WHOLE

    @cached_property
    def counted(self) -> pd.DataFrame | None:
        """The jobs that metrics and distributions count: those submitted in the window, without those of a context."""
        if self.jobs is None:
            return None
        return _windowed(without_context(self.jobs, self.record), self.window)

    @cached_property
    def summary(self) -> pd.Series:
        """The result of `simunix.metrics.schedule.summary` for the jobs that count; empty for a run without jobs.

        As long as the end of a job is unknown, the metrics of OF_ALL_ENDS are NaN.
        """
        from simunix.metrics.schedule import summary

        if self.jobs is None or self.counted is None or self.counted.empty:
            return pd.Series(dtype=float)
        with np.errstate(all="ignore"):
            found = summary(self.counted, self.processors, self.jobs, read_power(self.directory))
        if (self.jobs["final_state"] == UNKNOWN).any():
            found[list(OF_ALL_ENDS)] = np.nan
        return found

    @cached_property
    def storages(self) -> StorageUse | None:
        """How much the run's storages were used; None if the run has no storages."""
        return read_storage_use(self.directory)

    @cached_property
    def links(self) -> Usage | None:
        """The bytes that the run's links carried over time; None for a run without `--link-usage`, or whose links
        carried nothing.
        """
        path = self.directory / LINKS_FILE
        return read_usage(path) if path.exists() and path.read_bytes().count(b"\n") > 1 else None

    @cached_property
    def processors(self) -> int:
        """The number of cores of the machine, from machines.csv or run.json; without these, the most cores that were
        ever busy.
        """
        from simunix.metrics.series import busy_processors

        if self.machines is not None and self.machines.total:
            return self.machines.total
        if cores := self.record.get("cores"):
            return int(cores)
        busy = busy_processors(self.jobs) if self.jobs is not None else pd.Series(dtype=float)
        return max(1, int(busy.max())) if len(busy) else 1


def _windowed(jobs: pd.DataFrame, window: str) -> pd.DataFrame:
    from simunix.metrics.series import steady_window, submitted_within

    return jobs if window == WHOLE or jobs["submission_time"].isna().all() else submitted_within(jobs, *steady_window(jobs))


def read_run(directory: Path, label: str | None = None, window: str = WHOLE) -> Run:
    """Read a run directory. Parts that a killed run lacks are listed in `notes`. Raises SimunixError for other folders.

    With the window STEADY, only jobs submitted in `simunix.metrics.series.steady_window` count.
    """
    if not directory.is_dir():
        problem = "is not a folder" if directory.exists() else "there is no such folder"
        raise SimunixError(f"{directory}: {problem}; give the folders of runs, as simunix run --out made them")
    if not any((directory / mark).exists() for mark in MARKS):
        raise SimunixError(f"{directory}: is not the folder of a run: it has no {', no '.join(MARKS)}")
    run = Run(directory, label or directory.resolve().name, _record(directory / "run.json"), None, None)
    if not run.record:
        run.notes.append("This run has not ended, or was killed: there is no run.json yet.")
    elif run.record.get("ended") not in (None, "done", "time limit"):
        run.notes.append(f"This run ended early: {run.record.get('failure') or run.record['ended']}.")
    run.notes += [f"A process did not end as expected: {line}." for line in run.record.get("failed_processes") or []]
    if reason := why_invalid(run.record):
        run.notes.append(f"This run is INVALID: the context of its workload was not established: {reason}.")
    if (directory / "machines.csv").exists():
        run.machines = read_machines(directory / "machines.csv")
    if (directory / "jobs.csv").exists():
        run.jobs = _jobs(directory / "jobs.csv")
    elif run.record:
        run.notes.append("This run had no jobs.")
    check_other_files(directory)
    run.window = window
    run.notes += _left_out(run)
    return run


def _left_out(run: Run) -> list[str]:
    """Return notes on the jobs that metrics do not count."""
    if run.jobs is None or run.counted is None:
        return []
    found = []
    if unknown := int((run.jobs["final_state"] == UNKNOWN).sum()):
        found.append(
            f"What became of {unknown:,} jobs is unknown, since their RJMS could not be asked: they count as not finished, and "
            "what depends on all ends, as utilisation, throughput and makespan, is unknown."
        )
    replayed = without_context(run.jobs, run.record)
    if context := len(run.jobs) - len(replayed):
        found.append(
            f"Numbers and distributions are of the replay's {len(replayed):,} jobs; the {context:,} of its context, "
            "whose waits began before the replay, are in the figures over time and in the list of jobs only."
        )
    if run.window != WHOLE:
        found.append(
            f"Numbers and distributions are of the {len(run.counted):,} jobs submitted in the steady window: "
            "neither in the first nor in the last tenth of the span of submissions."
        )
    return found


def _record(path: Path) -> dict[str, Any]:
    try:
        return read_record(path)
    except FileNotFoundError:
        return {}


TEXTS = ("job_id", "workload_name", "profile", "final_state", "metadata", "user", "account")
CHECKED = ("success", "turnaround_time", "stretch", "allocated_cores", "io_time")
"""The numeric columns that are checked in addition to those of a job table, although a report may not need them."""
PLACES = ("allocated_resources", "allocated_hosts")


def _jobs(path: Path) -> pd.DataFrame | None:
    """Return the job table in a jobs.csv; None if it has no job. Raises SimunixError with file and line for a malformed
    file.
    """
    table = read_columns(path, TEXTS + PLACES, ("submission_time", "starting_time"))
    for name in (name for name in CHECKED if name in table):
        numbers(table[name], str(path), first_line=2)
    texts = table.reindex(columns=[*TEXTS, *PLACES]).astype(object).fillna("").astype(str)
    jobs = job_table(settled(table).assign(**{name: texts[name] for name in (*TEXTS, *PLACES)}), str(path), first_line=2)
    return jobs if len(jobs) else None


_ENDINGS = ((re.compile(r"(?:^|-)r\d+-[0-9a-f]{8}$"), ""), (re.compile(r"(^|-)(r\d+)-[0-9a-f]{8}$"), r"\1\2"))
"""How the names of a sweep's runs end (`simunix.sweep.runs.Run.name`), and which part of the ending a label keeps."""


def unique_labels(directories: list[Path]) -> list[str]:
    """Return a unique label for each run: the folder's name, with as many parent folders as make it unique, or else
    with a number.

    Folder names of a sweep's runs end with the repetition and a checksum, which are left out if the labels stay unique.
    """
    parts = [path.resolve().parts for path in directories]
    for ending, kept in _ENDINGS:
        short = [ending.sub(kept, each[-1]) for each in parts]
        if all(short) and len(set(short)) == len(short):
            return short
    for depth in range(1, 1 + max(map(len, parts))):
        labels = ["/".join(each[-depth:]) for each in parts]
        if len(set(labels)) == len(labels):
            return labels
    return [f"{each[-1]} ({number})" for number, each in enumerate(parts, 1)]
