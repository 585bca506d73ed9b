"""Two settings that are equal in truth, swept again and again: how often their table or comparison tells a difference.

The settings are the same jobs under two names of the trace, from which `perturb` draws: the courses of both have one
distribution, and those of one seed are independent of each other. `python -m tests.endurance.equal_settings --sweeps 100` does
so many sweeps, with seeds of their own.

Each sweep is `simunix sweep --table`, and each run `simunix run` in a process of its own, forked from this one, which has
imported everything. Dask's workers, which start runs otherwise, have tests of their own.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, NoReturn

from simunix.cli.main import main as cli
from simunix.compare.conclusion import conclude_change
from simunix.compare.study import changes_of, with_common_names
from simunix.report.run_data import Run, read_run
from simunix.statistics.difference import DIFFERS, NO_DIFFERENCE
from simunix.sweep import sweep
from simunix.sweep.child import command, log_file
from simunix.sweep.engine import Watcher
from simunix.sweep.runs import Run as Variant
from tests.fork_server import PRELOADED
from tests.toy_rjms.installation import install

FACTOR = "workload.trace"
TRACES = ("first.swf", "second.swf")
JOBS, USERS = 4, 2
GAP_S, RUNS_S = 30, 60
"""A job each GAP_S, for RUNS_S, on the only core: the queue grows, so that jobs wait."""
SCENARIO = """
name: equal
hosts: [{name: m, cores: 1}]
toy: {controller: m, nodes: m}
workload: {trace: first.swf, start: 1s, users: trace}
"""
EXPERIMENT = """
name: equal
scenario: equal.yaml
perturb: {submission: 20s, run_time: 30%, ties: true}
factors: {workload.trace: [first.swf, second.swf]}
"""
REPETITIONS = 3
"""As few as tell anything: a hundred sweeps take ten minutes of a core."""


@dataclass(frozen=True, slots=True)
class Told:
    """What was told of a sweep: the conclusion of each metric of its table, and the kind of what a comparison concludes."""

    table: dict[str, str]
    compared: str

    @property
    def of_table(self) -> str:
        """NO_DIFFERENCE if the table says so of each metric, else DIFFERS."""
        return DIFFERS if DIFFERS in self.table.values() else NO_DIFFERENCE


class Sweeps:
    """Sweeps of one toy cluster in a folder of its own."""

    def __init__(self, folder: Path, repetitions: int = REPETITIONS) -> None:
        self.folder, self.repetitions = folder, repetitions
        (folder / "equal.yaml").write_text(SCENARIO)
        jobs = "".join(
            f"{number} {GAP_S * number} -1 {RUNS_S} 1 -1 -1 1 {10 * RUNS_S} -1 1 {number % USERS + 1} 1 -1 -1 -1 -1 -1\n"
            for number in range(1, JOBS + 1)
        )
        for name in TRACES:
            (folder / name).write_text(f"; MaxProcs: 1\n{jobs}")

    def once(self, number: int) -> Told:
        """Do the sweep of this number, from 0 on; no two have a seed in common."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        seeds = f"seed: {1 + number * self.repetitions}\nrepetitions: {self.repetitions}\n"
        (self.folder / "e.yaml").write_text(EXPERIMENT + seeds)
        with (self.folder / "printed").open("w") as printed, contextlib.redirect_stdout(printed):
            code = cli(["sweep", str(self.folder / "e.yaml"), "-o", str(out), "--table"])
        assert code == 0, (self.folder / "printed").read_text()
        return Told(conclusions(out), compared(out))


def run_all(runs: Sequence[Variant], directory: Path, address: str | None, workers: int, watcher: Watcher, _: object) -> None:
    """Do the runs of a sweep one after the other, each in a child of this process."""
    for run in runs:
        with log_file(directory, run).open("wb") as log:
            pid = os.fork()
            if pid == 0:
                become(command(directory, run)[3:], log.fileno())
            os.waitpid(pid, 0)
        watcher.ended(run, "")


def become(words: Sequence[str], log: int) -> NoReturn:
    """Be `simunix` with these words, whose output goes to a file, and end."""
    os.setsid()
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout, sys.stderr = (os.fdopen(number, "w") for number in (1, 2))
    code = 1
    try:
        code = cli(words)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def conclusions(out: Path) -> dict[str, str]:
    """The conclusion of each metric in the table of a sweep."""
    with (out / "table.csv").open() as file:
        return {row["metric"]: row["conclusion"] for row in csv.DictReader(file) if row["conclusion"]}


def compared(out: Path) -> str:
    """The kind of conclusion that `simunix compare` draws from the runs of a sweep."""
    with (out / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    runs = with_common_names([read_run(out / "runs" / row["run"], row[FACTOR]) for row in rows])
    repeated: dict[str, dict[int, Run]] = {name: {} for name in TRACES}
    for row, run in zip(rows, runs, strict=True):
        repeated[row[FACTOR]][int(row["seed"])] = run
    (change,) = changes_of([next(iter(own.values())) for own in repeated.values()], repeated)
    return conclude_change(change, change.repetitions, None).kind


def tally(folder: Path, sweeps: int, repetitions: int = REPETITIONS, first: int = 0) -> tuple[Counter[str], Counter[str]]:
    """Do so many sweeps; return how often tables and comparisons said what."""
    tables: Counter[str] = Counter()
    comparisons: Counter[str] = Counter()
    toys = Sweeps(folder, repetitions)
    for number in range(first, first + sweeps):
        told = toys.once(number)
        tables[told.of_table] += 1
        comparisons[told.compared] += 1
        print(f"sweep {number}: {told.of_table}, {told.compared}; {told.table}", file=sys.stderr, flush=True)
    return tables, comparisons


def main() -> None:
    """Print how often what was concluded; the sweeps are done by a process whose packages have the toy among them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--first", type=int, default=0, help="number of the first sweep, which decides its seeds")
    parser.add_argument("--within", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.within is None:
        with tempfile.TemporaryDirectory() as folder:
            sys.exit(counted(Path(folder), options.sweeps, options.repetitions, options.first).returncode)
    vars(sweep)["run_all"] = run_all
    for name in PRELOADED:
        importlib.import_module(name)
    tables, comparisons = tally(options.within, options.sweeps, options.repetitions, options.first)
    print(json.dumps({"tables": tables, "comparisons": comparisons}))


def counted(folder: Path, sweeps: int, repetitions: int = REPETITIONS, first: int = 0, **how: Any) -> CompletedProcess[str]:
    """Have a process do the sweeps within a folder; it prints how often what was concluded, as JSON."""
    words = ["--sweeps", sweeps, "--repetitions", repetitions, "--first", first, "--within", folder]
    environment = {**install(folder / "site"), "OPENBLAS_NUM_THREADS": "1", "SIMUNIX_CHECK": "0"}
    line = [sys.executable, "-m", "tests.endurance.equal_settings", *map(str, words)]
    return subprocess.run(line, env=environment, text=True, check=False, **how)


if __name__ == "__main__":
    main()
