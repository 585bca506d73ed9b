"""Carry out a sweep: keep finished runs, execute the missing ones, and write the table, even after an interrupt."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import IO, Any

from rsg_server.errors import ServerError, SimunixError
from simunix.launch.claims import claim, refuse_inner
from simunix.launch.interrupts import Interrupts
from simunix.rjms.scenario import load
from simunix.sweep.analysis.options import METRICS, NOTHING, TellOptions
from simunix.sweep.engine import run_all
from simunix.sweep.experiment import Experiment, load_experiment, may_be_perturbed
from simunix.sweep.progress import SweepProgress
from simunix.sweep.runs import Run, check, runs_of
from simunix.sweep.table import DONE, RESULTS, USERS, check_metrics, is_kept, row_of, users_of, write_table

MOST = 100
"""The most repetitions of each setting of a sweep, unless the user sets another limit."""
MARK = ".simunix-sweep"
EXPERIMENT = "experiment.yaml"
FAILED, INTERRUPTED = 1, 130
CANNOT_DIFFER = (
    "repetitions of one setting have the same jobs and the same daemons, whatever their seeds, so that their metrics cannot "
    "differ; add perturb: true to the experiment (docs/guide/perturbation.md)"
)


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """The options of `simunix sweep` on the command line."""

    path: Path
    out: Path
    workers: int | None = None
    scheduler: str | None = None
    resume: bool = False
    told: TellOptions = NOTHING
    until_width: float | None = None
    most: int = MOST


class NotWrittenError(ServerError):
    """The error that the folder of a sweep cannot be written to any more; `rows` has the results of the runs so far."""

    def __init__(self, text: str, rows: dict[Run, dict[str, Any]]) -> None:
        super().__init__(text)
        self.rows = rows


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results in the folder of a sweep: the row of each run in results.csv. `kept` is the number of runs done
    before.
    """

    rows: dict[Run, dict[str, Any]]
    kept: int
    interrupted: bool

    @property
    def text(self) -> str:
        """The number of runs of each status, in words."""
        counts = Counter(str(row["status"]) for row in self.rows.values())
        text = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
        return f"{len(self.rows)} runs: {text}" + (f" ({self.kept} kept from before)" if self.kept else "")

    @property
    def is_whole(self) -> bool:
        """Whether all runs have ended regularly."""
        return all(row["status"] == DONE for row in self.rows.values())


def sweep(options: SweepOptions) -> int:
    """Execute the missing runs and write the tables; return the exit code: 0 if all runs have ended regularly."""
    experiment = load_experiment(options.path)
    check_metrics(options.told.metrics)
    _check_width(experiment, options)
    runs = runs_of(experiment)
    check(runs)
    perturbed = _tell_what_cannot_differ(runs)
    directory = options.out.resolve()
    with claimed(options.out, options.resume):
        if options.path.resolve() != directory / EXPERIMENT:
            shutil.copyfile(options.path, directory / EXPERIMENT)
        try:
            outcome = carry_out(directory, runs, options.resume, options.workers, options.scheduler)
            if options.until_width is not None:
                outcome = _until_narrow(experiment, options, outcome, options.until_width)
        except NotWrittenError as error:
            from simunix.sweep.analysis.tell import show_so_far  # imports scipy, which takes long

            show_so_far(error.rows, options.told, perturbed)
            raise
        code = _say(outcome, options.out)
        if options.told.wants_anything:
            from simunix.sweep.analysis.tell import tell  # imports scipy, which takes long

            tell(outcome.rows, options.out, options.told, perturbed)
    return code


def _check_width(experiment: Experiment, options: SweepOptions) -> None:
    """Raise SimunixError if a width of intervals is asked for in an experiment whose number of repetitions is fixed."""
    if options.until_width is None:
        return
    if experiment.seeds is not None:
        raise SimunixError(
            f"{options.path}: seeds: the list limits the repetitions; give the key seed instead, or leave --until-width out"
        )
    if not may_be_perturbed(experiment, load(experiment.scenario)):
        raise SimunixError(f"{options.path}: --until-width: {CANNOT_DIFFER}")


def _tell_what_cannot_differ(runs: Sequence[Run]) -> bool:
    """Report that repetitions are equal, if they are: a trace is run without perturbation. Return whether any run is
    perturbed.
    """
    several = {run.overrides: run for run in runs if run.repetition > 0}
    scenarios = [load(run.scenario, (*overrides, f"seed={run.seed or 1}")) for overrides, run in several.items()]
    perturbed = [scenario.perturbation is not None for scenario in scenarios]
    if any(scenario.workload and not own for scenario, own in zip(scenarios, perturbed, strict=True)):
        print(f"simunix: {CANNOT_DIFFER}", file=sys.stderr)
    return any(perturbed)


def _until_narrow(experiment: Experiment, options: SweepOptions, outcome: Outcome, width: float) -> Outcome:
    """Execute more repetitions until all intervals of the metrics are at most `width` wide, or the allowed number is
    reached.
    """
    from simunix.sweep.analysis.estimates import estimates, repetitions_to_do  # imports scipy, which takes long
    from simunix.sweep.analysis.settings import settings_of

    done = experiment.repetitions or 1
    while outcome.is_whole and not outcome.interrupted and done < options.most:
        asked = estimates(settings_of(outcome.rows), options.told.metrics or METRICS[:1], width)
        wanted = 2 if done == 1 else repetitions_to_do(asked, width, done)
        if wanted is None:
            break
        done = min(wanted, options.most)
        widest = max((each.interval.relative_width for each in asked if each.interval.count > 1), default=inf)
        state = "" if widest == inf else f"; the widest interval is {100 * widest:.1f} % of its mean"
        print(f"simunix: on to {done} repetitions{state}", file=sys.stderr)
        runs = runs_of(experiment.model_copy(update={"repetitions": done}))
        outcome = carry_out(options.out.resolve(), runs, True, options.workers, options.scheduler)
    return outcome


def carry_out(directory: Path, runs: Sequence[Run], resume: bool, workers: int | None, scheduler: str | None) -> Outcome:
    """Execute the runs (with `resume` only the missing ones), and write the tables, even after an interrupt."""
    missing = [run for run in runs if not (resume and is_kept(directory, run))]
    kept = len(runs) - len(missing)
    workers = min(workers or len(os.sched_getaffinity(0)), max(len(missing), 1))
    table = _Table(directory, runs)
    try:
        with Interrupts() as interrupts, SweepProgress(directory, missing, kept, workers) as progress:
            if missing:
                run_all(missing, directory, scheduler, workers, _Both(table, progress), interrupts)
            table.refresh()
    except ServerError as error:
        text = f"{error}; the table so far and the runs are kept, go on with --resume"
        raise NotWrittenError(text, table.rows) from error
    return Outcome(table.rows, kept, interrupts.came)


class _Table:
    """The file results.csv of a sweep, which is updated after each run."""

    def __init__(self, directory: Path, runs: Sequence[Run]) -> None:
        self._directory = directory
        self.rows: dict[Run, dict[str, Any]] = {run: row_of(directory, run) for run in runs}

    def update(self, run: Run, problem: str = "") -> None:
        """Read the results of a run again, and write the table. `problem` is the reason why its worker could not
        execute the run.
        """
        row = row_of(self._directory, run)
        self.rows[run] = row if row["status"] == DONE or not problem else {**row, "failure": problem}
        write_table(self._directory / RESULTS, list(self.rows.values()))

    def refresh(self) -> None:
        """Read the results of all runs again, since an interrupt may have ended some of them, and write the tables."""
        self.rows = {run: row if row["status"] == DONE else row_of(self._directory, run) for run, row in self.rows.items()}
        write_table(self._directory / RESULTS, list(self.rows.values()))
        users = [user for run, row in self.rows.items() if row["status"] == DONE for user in users_of(self._directory, run)]
        if users:
            write_table(self._directory / USERS, users)


class _Both:
    """A Watcher that, for each run of a sweep, updates results.csv and shows the progress."""

    def __init__(self, table: _Table, progress: SweepProgress) -> None:
        self._table, self._progress = table, progress

    def tick(self) -> None:
        """Update the progress display."""
        self._progress.tick()

    def ended(self, run: Run, problem: str) -> None:
        """Update results.csv and the progress display after the end of a run."""
        self._progress.ended(run, problem)
        self._table.update(run, problem)


def claimed(out: Path, resume: bool, mark: str = MARK, what: str = "sweep") -> IO[str]:
    """Make the folder of a sweep or, with `resume`, use the existing one. Return the file whose lock excludes other
    sweeps.

    Raises SimunixError if the folder is in use, or exists without `resume`. `mark` is the name of the locked file,
    `what` the kind of folder in messages.
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
    """Print the outcome of the sweep in two lines; return the exit code."""
    print(f"{outcome.text}\nA line for each is in {out / RESULTS}")
    if outcome.interrupted:
        print(f"simunix: interrupted; go on with: simunix sweep {out / EXPERIMENT} -o {out} --resume", file=sys.stderr)
        return INTERRUPTED
    return 0 if outcome.is_whole else FAILED
