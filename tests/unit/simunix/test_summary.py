"""The table at the end of a run, on the terminal: what it says of jobs of which nobody knows what became."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from simunix.app.summary import run_table
from simunix.results.jobs_csv import UNKNOWN, JobRow
from simunix.results.run_json import RunRecord
from tests.unit.simunix.report import runs


def table_of(tmp_path: Path, rows: list[JobRow], cores: int = 4) -> dict[str, str]:
    """The table of a run with these jobs, by the words of its first column."""
    record = RunRecord(
        name="r",
        simunix="0",
        rjms=None,
        seed=0,
        cpu_policy="free",
        network_model="cm02",
        isolation="root",
        ended="done",
        failure=None,
        virtual_s=100.0,
        wall_s=1.0,
        server_cpu_s=1.0,
        server="compiled",
        turns=1,
        events_sha256="0" * 64,
    )
    folder = runs.write_run(tmp_path / "r", rows, 1, cores=cores)
    record.metrics = json.loads((folder / "run.json").read_text())["metrics"]
    what, value = run_table(record, rows).columns
    return dict(zip(map(str, what.cells), map(str, value.cells), strict=True))


def lost(number: int) -> JobRow:
    """A job that was submitted, of which the RJMS could not be asked."""
    return replace(runs.waiting(number, 1.0), final_state=UNKNOWN)


def test_what_depends_on_jobs_of_unknown_end_is_unknown(tmp_path: Path) -> None:
    table = table_of(tmp_path, [runs.ran(1, 0.0, 10.0, 30.0, "n1", cores=2), lost(2), lost(3)])
    assert table["jobs unknown"] == "2" and table["jobs completed"] == "1"
    assert (table["utilisation"], table["makespan"]) == ("unknown", "unknown")
    assert table["wait, mean"] == "10.00 s"


def test_no_job_that_started_has_no_mean_wait(tmp_path: Path) -> None:
    table = table_of(tmp_path, [lost(1)])
    assert (table["wait, mean"], table["bounded slowdown, mean"]) == ("unknown", "unknown")


def test_jobs_whose_ends_are_known(tmp_path: Path) -> None:
    table = table_of(tmp_path, [runs.ran(1, 0.0, 10.0, 30.0, "n1", cores=2)])
    assert (table["utilisation"], table["makespan"]) == ("33.33%", "30.00 s")
