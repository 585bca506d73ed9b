"""A whole sweep: finished runs are kept, missing ones are done, and the table is written, also after an interrupt."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rsg_server.errors import SimunixError
from simunix.launch.claims import claim, refuse_inner
from simunix.launch.interrupts import Interrupts
from simunix.sweep.engine import run_all
from simunix.sweep.experiment import load_experiment
from simunix.sweep.progress import SweepProgress
from simunix.sweep.runs import Run, check, runs_of
from simunix.sweep.table import DONE, RESULTS, USERS, is_kept, row_of, users_of, write_table

MARK = ".simunix-sweep"
EXPERIMENT = "experiment.yaml"
FAILED, INTERRUPTED = 1, 130


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """The options of the command line."""

    path: Path
    out: Path
    workers: int | None = None
    scheduler: str | None = None
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is there of the runs of a folder: the row of each in results.csv; `kept` of them were done before."""

    rows: dict[Run, dict[str, Any]]
    kept: int
    interrupted: bool

    @property
    def text(self) -> str:
        """How many runs there are of each status, in words."""
        counts = Counter(str(row["status"]) for row in self.rows.values())
        text = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        return f"{len(self.rows)} runs: {text}" + (f" ({self.kept} kept from before)" if self.kept else "")

    @property
    def is_whole(self) -> bool:
        """Whether all runs have come to their ends."""
        return all(row["status"] == DONE for row in self.rows.values())


def sweep(options: SweepOptions) -> int:
    """Do the missing runs and write the table; return 0 if all runs have come to their ends."""
    experiment = load_experiment(options.path)
    runs = runs_of(experiment)
    check(runs)
    directory = options.out.resolve()
    with claimed(options.out, options.resume):
        if options.path.resolve() != directory / EXPERIMENT:
            shutil.copyfile(options.path, directory / EXPERIMENT)
        outcome = carry_out(directory, runs, options.resume, options.workers, options.scheduler)
    return _say(outcome, options.out)


def carry_out(directory: Path, runs: Sequence[Run], resume: bool, workers: int | None, scheduler: str | None) -> Outcome:
    """Do the runs, with `resume` only those that are missing, and write the tables, also after an interrupt."""
    missing = [run for run in runs if not (resume and is_kept(directory, run))]
    kept = len(runs) - len(missing)
    workers = min(workers or len(os.sched_getaffinity(0)), max(len(missing), 1))
    table = _Table(directory, runs)
    with Interrupts() as interrupts, SweepProgress(directory, len(runs), kept) as progress:
        if missing:
            run_all(missing, directory, scheduler, workers, _Both(table, progress), interrupts)
        table.refresh()
    return Outcome(table.rows, kept, interrupts.came)


class _Table:
    """results.csv, updated after each run."""

    def __init__(self, directory: Path, runs: Sequence[Run]) -> None:
        self._directory = directory
        self.rows: dict[Run, dict[str, Any]] = {run: row_of(directory, run) for run in runs}

    def update(self, run: Run) -> None:
        """Read the results of a run again, and write the table."""
        self.rows[run] = row_of(self._directory, run)
        write_table(self._directory / RESULTS, list(self.rows.values()))

    def refresh(self) -> None:
        """Read the results of all runs that are not done again, since an interrupt may have ended them; write the tables."""
        self.rows = {run: row if row["status"] == DONE else row_of(self._directory, run) for run, row in self.rows.items()}
        write_table(self._directory / RESULTS, list(self.rows.values()))
        users = [user for run, row in self.rows.items() if row["status"] == DONE for user in users_of(self._directory, run)]
        if users:
            write_table(self._directory / USERS, users)


class _Both:
    """A Watcher that updates the table and shows progress."""

    def __init__(self, table: _Table, progress: SweepProgress) -> None:
        self._table, self._progress = table, progress

    def tick(self) -> None:
        """Update the progress."""
        self._progress.tick()

    def ended(self, run: Run, problem: str) -> None:
        """Update the table and the progress."""
        self._table.update(run)
        self._progress.ended(run, problem)


def claimed(out: Path, resume: bool, mark: str = MARK, what: str = "sweep") -> IO[str]:
    """Make the folder of a sweep, or reuse it with `resume`; return the file whose lock excludes other sweeps.

    Raises SimunixError. `mark` is the file's name, `what` the folder's kind in messages.
    """
    directory, shown = out.resolve(), f"--out {out}"
    marked = directory / mark
    refuse_inner(directory, shown)
    is_earlier = marked.exists()
    if directory.exists() and (not directory.is_dir() or (any(directory.iterdir()) and not is_earlier)):
        raise SimunixError(f"{shown}: exists and is not an earlier {what}'s folder; choose another name")
    (directory / "runs").mkdir(parents=True, exist_ok=True)
    lock = claim(marked, shown)
    if is_earlier and not resume:
        lock.close()
        raise SimunixError(f"{shown}: has a {what} already; go on with --resume, or choose another name")
    return lock


def _say(outcome: Outcome, out: Path) -> int:
    """Print the outcome in two lines; return the exit code."""
    print(f"{outcome.text}\nA line for each is in {out / RESULTS}")
    if outcome.interrupted:
        print(f"simunix: interrupted; go on with: simunix sweep {out / EXPERIMENT} -o {out} --resume", file=sys.stderr)
        return INTERRUPTED
    return 0 if outcome.is_whole else FAILED
