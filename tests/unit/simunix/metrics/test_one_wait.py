"""The wait of a job that Slurm has requeued: the terminal, the report page, schedule.csv and jobs.csv tell one number."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path

import pytest

from simunix.app.summary import figures
from simunix.report.batsim_files import with_metrics
from simunix.report.comparison import Comparison
from simunix.report.run_data import read_run
from simunix.results.jobs_csv import JobRow, Recorded, Submission, make_rows
from simunix.results.run_json import RunRecord, read_record
from simunix.rjms.slurm.accounting import parse_jobcomp
from simunix.rjms.slurm.clients import CLIENTS
from simunix.workload.job import Job
from tests.unit.simunix.report import runs

LINE = (
    "JobId=1 UserId=root(0) Name=swf-1 JobState={state} Partition=batch TimeLimit=11 StartTime=1970-01-01T{start} "
    "EndTime=1970-01-01T{end} NodeList=node0001 NodeCnt=1 ProcCnt=2 Account= QOS= SubmitTime=1970-01-01T{submit} "
)
JOBCOMP = (
    LINE.format(state="NODE_FAIL", submit="00:00:10", start="00:00:11", end="00:05:01"),
    LINE.format(state="COMPLETED", submit="00:05:01", start="00:08:01", end="00:13:01"),
)
"""What Slurm 22.05 writes of a job whose node loses its power: it waits from 10 s on, runs in vain, starts again at 481 s."""


@pytest.fixture
def rows() -> list[JobRow]:
    recorded = Recorded(
        clients=CLIENTS,
        submissions={1: Submission(1, 0.25, "1", "")},
        completed=parse_jobcomp(JOBCOMP),
        origin_s=10.0,
        epoch_s=0.0,
    )
    return make_rows("w", [Job(1, 0.0, 300.0, 600.0, 2)], [], recorded)


def test_a_requeued_job_waits_since_its_first_submission(rows: list[JobRow]) -> None:
    (row,) = rows
    assert (row.final_state, row.starting_time, row.execution_time, row.finish_time) == ("COMPLETED", 481, 300, 781)
    (written,) = with_metrics(rows)
    assert (row.recorded_submission_time, written.waiting_time, written.turnaround_time) == (10, 470.75, 770.75)


def test_terminal_page_and_schedule_agree(rows: list[JobRow], tmp_path: Path) -> None:
    folder = runs.write_run(tmp_path / "r", rows, 1)
    (schedule,) = csv.DictReader((folder / "schedule.csv").read_text().splitlines())
    (page,) = Comparison([read_run(folder)]).summaries()
    terminal = figures(RunRecord(**{**asdict(runs.record()), "metrics": read_record(folder / "run.json")["metrics"]}))
    assert terminal["wait, mean"] == "00:07:51"
    assert float(schedule["mean_waiting_time"]) == page["mean_waiting_time"] == 470.75
    assert float(terminal["bounded slowdown, mean"]) == pytest.approx(page["mean_bounded_slowdown"], abs=0.0005)
