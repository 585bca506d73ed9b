"""Whole runs of a scenario that must succeed, alone or twice with the same event log, and what they leave."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import Simunix


@dataclass(frozen=True, slots=True)
class Run:
    """A run's directory."""

    out: Path

    @property
    def record(self) -> dict[str, Any]:
        """run.json."""
        found: dict[str, Any] = json.loads((self.out / "run.json").read_text())
        return found

    @property
    def events(self) -> list[str]:
        """The lines of the event log."""
        return (self.out / "events.jsonl").read_text().splitlines()

    @property
    def rows(self) -> list[dict[str, str]]:
        """The rows of jobs.csv."""
        return list(csv.DictReader((self.out / "jobs.csv").read_text().splitlines()))

    @property
    def jobs(self) -> dict[int, dict[str, str]]:
        """The rows of jobs.csv by the number of the job; for one workload whose jobs have numbers."""
        return {int(row["job_id"]): row for row in self.rows}

    def job_numbers(self, host: str) -> dict[int, str]:
        """What the RJMS called each job that was submitted from a host, by the trace's number; each was submitted once."""
        submissions = list(csv.DictReader(self.file(host, "var_spool_simunix/submissions.csv").splitlines()))
        numbers = {int(row["id"]): row["job_number"] for row in submissions}
        assert len(numbers) == len(submissions), f"{self.out}: a job was submitted twice: {submissions}"
        return numbers

    def file(self, host: str, name: str) -> str:
        """The text of a file of a host; `name` begins with the host's folder as `hosts/HOST/files/` spells it."""
        return (self.out / "hosts" / host / "files" / name).read_text()

    def output(self, host: str, process: str) -> str:
        """What a process wrote to its standard output."""
        return (self.out / "hosts" / host / f"{process}.out").read_text()

    def everything(self, host: str, process: str) -> str:
        """What a process wrote to its standard output and, behind that, to its standard error; for a failing test to show."""
        return self.output(host, process) + (self.out / "hosts" / host / f"{process}.err").read_text()


def run(simunix: Simunix, scenario: Path, out: Path, *options: object, timeout: float = 300) -> Run:
    """Run a scenario into a directory. It must succeed."""
    done = simunix("run", scenario, "--out", out, *options, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return Run(out)


def run_twice(simunix: Simunix, scenario: Path, folder: Path, *options: object, timeout: float = 300) -> tuple[Run, Run]:
    """Run a scenario into `first` and `second` of a folder. Both must succeed, and leave the same event log."""
    first, second = (run(simunix, scenario, folder / name, *options, timeout=timeout) for name in ("first", "second"))
    assert_same(first, second)
    return first, second


def assert_same(first: Run, second: Run) -> None:
    """Two runs have left the same event log. The first line that differs says more than two digests do."""
    for number, (line, other) in enumerate(zip(first.events, second.events, strict=False), start=1):
        assert line == other, f"the event logs of {first.out} and {second.out} differ in line {number}:\n{line}\n{other}"
    lengths = [len(ran.events) for ran in (first, second)]
    assert lengths[0] == lengths[1], f"the event logs of {first.out} and {second.out} have {lengths} lines"
    digests = {str(ran.record["events_sha256"]) for ran in (first, second)}
    assert len(digests) == 1, f"the digests of the events of {first.out} and {second.out} differ: {digests}"
