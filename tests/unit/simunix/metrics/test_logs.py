"""The logs of jobs contain starts, ends and suspensions to the nanosecond."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.metrics import logs, per_job, series
from simunix.metrics.jobs import job_table
from simunix.metrics.logs import NS, JobLog, parse_log
from simunix.report.batsim_files import with_metrics
from simunix.results.jobs_csv import Recorded, Submission, make_rows
from simunix.rjms.adapter import CompletedJob
from simunix.rjms.slurm.clients import CLIENTS
from simunix.workload.job import Job

EPOCH = 946684800
LOG = """946684814.003494354 begins line 4: suspendable 100.3
who knows what a job prints 12.000000000 ends
946684872.000567704 suspended for 50.501120599 s
946684964.804615853 ends line 4: suspendable 100.3
946684964.804615999 begins line 5: delay 1
946684965.804615999 ends line 5: delay 1
"""
MOMENTS = st.integers(0, 4 * 10**18)


def written(folder: Path, **texts: str) -> Path:
    shared = folder / logs.FOLDER
    shared.mkdir(parents=True)
    for name, text in texts.items():
        (shared / f"{name.replace('_', '-')}.log").write_text(text)
    (folder / "run.json").write_text(json.dumps({"epoch_s": float(EPOCH)}))
    return folder


def table() -> pd.DataFrame:
    moments = {"submission_time": [10.0, 10.0], "starting_time": [14.0, 14.0], "finish_time": [165.0, 24.0]}
    return job_table(pd.DataFrame({"job_id": ["1", "2"], **moments, "requested_number_of_resources": [16, 4]}))


def test_a_log() -> None:
    log = parse_log(LOG.splitlines())
    assert log.begin_ns == 946684814003494354 and log.end_ns == 946684965804615999
    assert log.suspensions == ((946684872000567704, 50501120599),)
    assert log.suspended_s == pytest.approx(50.501120599)


@given(MOMENTS, MOMENTS, st.lists(st.tuples(MOMENTS, MOMENTS), max_size=5))
def test_any_log_comes_back(begin: int, end: int, suspended: list[tuple[int, int]]) -> None:
    def text(moment: int) -> str:
        return f"{moment // NS}.{moment % NS:09d}"

    lines = [f"{text(begin)} begins line 1: x", *(f"{text(at)} suspended for {text(long)} s" for at, long in suspended)]
    assert parse_log([*lines, f"{text(end)} ends line 1: x"]) == JobLog(begin, end, tuple(suspended))


@given(st.lists(st.text()))
def test_other_output_is_no_log(lines: list[str]) -> None:
    assert isinstance(parse_log(lines), JobLog)


def test_logged_times_take_the_place_of_the_accountings(tmp_path: Path) -> None:
    run = written(tmp_path, swf_1_7=LOG, swf_2_8="946684814.5 begins nothing\n", other="")
    found = logs.read_logs(run)
    exact = logs.with_logged_times(table(), found, run)
    assert exact["starting_time"].tolist() == pytest.approx([14.003494354, 14.0])
    assert exact["execution_time"].tolist() == pytest.approx([165.804615999 - 14.003494354 - 50.501120599, 10.0])
    assert per_job.slowdown(exact)[0] == pytest.approx(155.804615999 / 101.300001046)
    assert set(logs.logs_by_number(run / logs.FOLDER)) == {7, 8}


def test_several_workloads_are_told_apart_by_their_hosts(tmp_path: Path) -> None:
    folder = written(tmp_path, a_b_swf_1_7=LOG, c_swf_1_7="946684814.500000000 begins line 1: x\n") / logs.FOLDER
    assert logs.logs_by_number(folder, "a-b")[7].end_ns is not None
    assert logs.logs_by_number(folder, "c")[7].end_ns is None
    assert logs.logs_by_number(folder) == {}


def test_processors_of_suspended_jobs_do_not_work(tmp_path: Path) -> None:
    run = written(tmp_path, swf_1_7=LOG)
    found = logs.read_logs(run)
    away = logs.suspensions(table(), found, run)
    assert away[["begin", "end"]].iloc[0].tolist() == pytest.approx([72.000567704, 122.501688303])
    working = series.working_processors(table(), away)
    assert working.tolist() == [20, 16, 0, 16, 0]
    assert series.working_processors(table(), away.iloc[:0]).tolist() == [20, 16, 0]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    run = written(tmp_path, swf_1_7=LOG, other_swf_1_9=LOG)
    with pytest.raises(SimunixError, match=r"swf-1-7.log: there is another log of job 1"):
        logs.read_logs(run)
    (run / "run.json").write_text("{}")
    with pytest.raises(SimunixError, match=r"run.json: no epoch_s"):
        logs.with_logged_times(table(), {}, run)


def test_suspensions_are_no_run_time_in_jobs_csv() -> None:
    jobs = [Job(number, 0.0, 100.0, 600.0, 16) for number in (1, 2)]
    submissions = {number: Submission(number, 0.0, str(number + 6), "") for number in (1, 2)}
    names = {"user": "u", "account": "a", "partition": "p", "qos": "q"}
    done = {
        str(number): CompletedJob(number, f"swf-{number - 6}", "COMPLETED", 10.0, 14.0, 164.0, "n1", 16, 600.0, **names)
        for number in (7, 8)
    }
    recorded = Recorded(
        clients=CLIENTS, submissions=submissions, completed=done, origin_s=10.0, epoch_s=0.0, suspended={7: 50.5}
    )
    rows = make_rows("w", jobs, [], recorded)
    assert [row.execution_time for row in rows] == [99.5, 150.0]
    assert [row.suspended_time for row in rows] == [50.5, None]
    assert {(row.user, row.account, row.partition, row.qos) for row in rows} == {("u", "a", "p", "q")}
    assert [row.stretch for row in with_metrics(rows)] == pytest.approx([154 / 99.5, 154 / 150], abs=1e-6)
