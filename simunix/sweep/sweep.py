"""A whole sweep: finished runs are kept, missing ones are done, and the table is written, also after an interrupt."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rsg_server.errors import SimunixError
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


def sweep(options: SweepOptions) -> int:
    """Do the missing runs and write the table; return 0 if all runs have come to their ends."""
    experiment = load_experiment(options.path)
    runs = runs_of(experiment)
    check(runs)
    directory = options.out.resolve()
    with _folder(directory, options):
        missing = [run for run in runs if not (options.resume and is_kept(directory, run))]
        workers = min(options.workers or len(os.sched_getaffinity(0)), max(len(missing), 1))
        table = _Table(directory, runs)
        with Interrupts() as interrupts, SweepProgress(directory, len(runs), len(runs) - len(missing)) as progress:
            if missing:
                run_all(missing, directory, options.scheduler, workers, _Both(table, progress), interrupts)
            table.refresh()
        return _say(table, options.out, len(runs) - len(missing), interrupts.came)


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


def _folder(directory: Path, options: SweepOptions) -> IO[str]:
    """Make the sweep's folder, or reuse it with --resume; return the file whose lock excludes other sweeps.

    Raises SimunixError.
    """
    mark = directory / MARK
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        if not mark.exists():
            raise SimunixError(f"--out {options.out}: exists and is not an earlier sweep's folder; choose another name")
        if not options.resume:
            raise SimunixError(f"--out {options.out}: has a sweep already; go on with --resume, or choose another name")
    (directory / "runs").mkdir(parents=True, exist_ok=True)
    lock = mark.open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise SimunixError(f"--out {options.out}: another sweep is running there; wait for it or stop it") from None
    if options.path.resolve() != directory / EXPERIMENT:
        shutil.copyfile(options.path, directory / EXPERIMENT)
    return lock


def _say(table: _Table, out: Path, kept: int, interrupted: bool) -> int:
    """Print the outcome in two lines; return the exit code."""
    counts = Counter(str(row["status"]) for row in table.rows.values())
    text = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    again = f" ({kept} kept from before)" if kept else ""
    print(f"{len(table.rows)} runs: {text}{again}\nA line for each is in {out / RESULTS}")
    if interrupted:
        print(f"simunix: interrupted; go on with: simunix sweep {out / EXPERIMENT} -o {out} --resume", file=sys.stderr)
        return INTERRUPTED
    return 0 if counts[DONE] == len(table.rows) else FAILED
