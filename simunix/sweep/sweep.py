"""A whole sweep: what is there already, what is to be run, the table, also when it is cut short."""

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
    """What the command line says."""

    path: Path
    out: Path
    workers: int | None = None
    scheduler: str | None = None
    resume: bool = False


def sweep(options: SweepOptions) -> int:
    """Run what is missing and write the table; 0 if all runs have come to their ends."""
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
    """results.csv, brought up to date run by run."""

    def __init__(self, directory: Path, runs: Sequence[Run]) -> None:
        self._directory = directory
        self.rows: dict[Run, dict[str, Any]] = {run: row_of(directory, run) for run in runs}

    def update(self, run: Run) -> None:
        """Look at a run again, and write the table."""
        self.rows[run] = row_of(self._directory, run)
        write_table(self._directory / RESULTS, list(self.rows.values()))

    def refresh(self) -> None:
        """Look at all that were not done: some may have been cut short."""
        self.rows = {run: row if row["status"] == DONE else row_of(self._directory, run) for run, row in self.rows.items()}
        write_table(self._directory / RESULTS, list(self.rows.values()))
        users = [user for run, row in self.rows.items() if row["status"] == DONE for user in users_of(self._directory, run)]
        if users:
            write_table(self._directory / USERS, users)


class _Both:
    """A Watcher that keeps the table and shows the progress."""

    def __init__(self, table: _Table, progress: SweepProgress) -> None:
        self._table, self._progress = table, progress

    def tick(self) -> None:
        """Some time has passed."""
        self._progress.tick()

    def ended(self, run: Run, problem: str) -> None:
        """A run has ended."""
        self._table.update(run)
        self._progress.ended(run, problem)


def _folder(directory: Path, options: SweepOptions) -> IO[str]:
    """Make the sweep's folder, or go on in it; the file whose lock keeps others out. Raises SimunixError."""
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
    """The end in two lines, and the exit code."""
    counts = Counter(str(row["status"]) for row in table.rows.values())
    text = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    again = f" ({kept} kept from before)" if kept else ""
    print(f"{len(table.rows)} runs: {text}{again}\nA line for each is in {out / RESULTS}")
    if interrupted:
        print(f"simunix: interrupted; go on with: simunix sweep {out / EXPERIMENT} -o {out} --resume", file=sys.stderr)
        return INTERRUPTED
    return 0 if counts[DONE] == len(table.rows) else FAILED
