"""Job tables: read, written, made from other traces, and what is wrong with them."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.workload.formats.by_name import read_trace, write_trace
from simunix.workload.formats.durations import duration_s, duration_text
from simunix.workload.formats.requests import table_jobs
from simunix.workload.formats.swf import SwfRecord, SwfTrace, table
from simunix.workload.job import Job
from simunix.workload.opened import open_trace
from simunix.workload.request import Clause, Other, Step
from simunix.workload.transforms.selection import Selection
from simunix.workload.transforms.shape import cut, merge, scale, shuffle

TABLE = """# UnixStartTime: 1700000000
JobID,User,Group,Account,Partition,Submit,Start,End,Timelimit,ReqCPUS,State,ExitCode,Dependency,Hold,Steps,Arguments
17,alice,staff,phys,gpu,2023-11-14T22:13:20,2023-11-14T22:14:20,2023-11-14T22:24:20,1-00:00:00,4,COMPLETED,,,,0+60x4 65+5.5x1,
18_1,bob,,phys,gpu,2023-11-14T22:13:25,2023-11-14T22:14:20,2023-11-14T22:24:20.5,UNLIMITED,4,FAILED,3:0,"afterok:17,singleton",,,
18_7,bob,,phys,gpu,2023-11-14T22:13:25,,2023-11-14T22:14:20,,4,CANCELLED by 7,0:0,,yes,,"--comment 'a b'"
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def jobs_of(trace: SwfTrace) -> list[Job]:
    return table_jobs(trace, Selection(), "t.csv")[0]


def test_what_a_table_says_becomes_requests(tmp_path: Path) -> None:
    first, second, third = jobs_of(read_trace(written(tmp_path / "t.csv", TABLE)))
    assert (first.submit_s, first.wait_s, first.runtime_s, first.requested_s, first.cores) == (0, 60, 600, 86400, 4)
    assert first.request is not None and second.request is not None and third.request is not None
    assert (first.request.user, first.request.group, first.request.account) == ("alice", "staff", "phys")
    assert first.request.steps == (Step(0, 60, 4), Step(65, 5.5, 1))
    assert (second.name, second.request.number, second.request.element) == ("18_1", 18, 1)
    assert (second.runtime_s, second.requested_s, second.request.limit_s) == (600.5, math.inf, math.inf)
    assert second.request.clauses() == (Clause("afterok", (Other(17),)), Clause("singleton"))
    assert second.request.exit_status == (3, 0)
    assert (third.request.limit_s, third.request.hold_s, third.request.cancel_s) == (None, math.inf, 55.0)
    assert third.request.arguments == ("--comment", "a b")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_table_there_and_back(tmp_path: Path, ending: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    first = read_trace(written(tmp_path / "t.csv", TABLE))
    write_trace(tmp_path / f"u{ending}", first)
    second = read_trace(tmp_path / f"u{ending}")
    assert second.comments == first.comments
    assert list(jobs_of(second)) == list(jobs_of(first))
    write_trace(tmp_path / "v.csv", second)
    write_trace(tmp_path / "w.csv", read_trace(tmp_path / "v.csv"))
    assert (tmp_path / "w.csv").read_bytes() == (tmp_path / "v.csv").read_bytes()


times = st.integers(0, 10**6).map(float) | st.sampled_from([0.5, 1.25, 86399.999])
known = times | st.just(-1.0)
records = st.builds(
    SwfRecord,
    job=st.just(0),
    submit_s=times,
    wait_s=known,
    runtime_s=known,
    allocated=st.integers(-1, 99),
    cpu_s=known,
    memory_kib=known,
    requested=st.integers(-1, 99),
    requested_s=known,
    requested_memory_kib=known,
    status=st.sampled_from([-1, 0, 1, 5]),
    user=st.integers(-1, 9),
    group=st.integers(-1, 9),
    executable=st.integers(-1, 9),
    queue=st.integers(-1, 9),
    partition=st.integers(-1, 9),
    preceding=st.integers(-1, 9),
    think_s=known,
)


@settings(max_examples=20)
@given(st.lists(records, min_size=1, max_size=8), st.sampled_from(["", " UnixStartTime: 1700000000"]))
def test_swf_as_a_table_is_the_trace_that_it_was(
    tmp_path_factory: pytest.TempPathFactory, rows: list[SwfRecord], head: str
) -> None:
    jobs = table(rows).sort_values("submit_s", kind="stable").reset_index(drop=True)
    never = (jobs["wait_s"] < 0) & (jobs["runtime_s"] == 0) & ~jobs["status"].isin((0, 1))  # accounting's way to say: unknown
    jobs["runtime_s"] = jobs["runtime_s"].where(~never, -1.0)
    jobs["job"] = range(1, len(jobs) + 1)
    path = tmp_path_factory.mktemp("table") / "t.csv"
    write_trace(path, SwfTrace((head,) if head else (), jobs))
    pd.testing.assert_frame_equal(read_trace(path).jobs[list(jobs)], jobs)


@given(st.floats(0, 1e9).map(lambda value: round(value, 6)) | st.just(math.inf))
def test_durations_are_read_as_they_are_written(seconds: float) -> None:
    assert duration_s(duration_text(seconds)) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 1800),
        ("45:10", 2710),
        ("1:00:01", 3601),
        ("2-12", 216000),
        ("2-12:30", 217800),
        ("1-00:00:00", 86400),
        ("x", None),
    ],
)
def test_durations_in_all_forms_of_sbatch(text: str, seconds: float | None) -> None:
    assert duration_s(text) == seconds


WRONG = [
    ("Submit\n5\n", "column JobID is missing"),
    ("JobID,Submit,Colour\n1,0,red\n", "Colour is no column of a job table"),
    ("JobID,Submit\n1,0\nx,0\n", ":3: JobID: expected a job's number"),
    ("JobID,Submit\n1,0\n1,0\n", ":3: JobID: expected a number that no other row has"),
    ("JobID,Submit\n1,0,7\n", ":2: expected 2 fields as in the first line, got 3"),
    ("JobID,Submit,Dependency\n1,0,afterwards:3\n", ":2: Dependency: expected conditions such as"),
    ("JobID,Submit,Start\n1,10,9\n", ":2: Start: expected a moment from Submit on, got '9'"),
    ("JobID,Submit,Timelimit\n1,10,soon\n", ":2: Timelimit: expected a time such as"),
    ("JobID,Submit\n1,\n", ":2: Submit: expected a date"),
    ("JobID,Submit,User\n1,0,a:b\n", ":2: User: expected a user's name, got 'a:b'"),
    ("#\n#\nJobID,Submit,JobID\n1,0,1\n", ":3: column 'JobID' is there twice"),
    ("JobID,Submit,ReqMem\n1,0,4 GB\n", ":2: ReqMem: expected memory such as 4G"),
    ('JobID,Submit,Arguments\n1,0,"\'"\n', "job 1: Arguments: No closing quotation"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_no_table_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SimunixError) as refused:
        jobs_of(read_trace(written(tmp_path / "t.csv", text)))
    assert message in str(refused.value)


@settings(max_examples=30)
@given(st.text(max_size=60))
def test_any_text_is_a_table_or_a_message(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_text("JobID,Submit,Dependency,Steps,Hold,Timelimit\n1,0," + text, newline="")
    with contextlib.suppress(SimunixError):
        jobs_of(read_trace(path))


def test_transforms_keep_what_a_table_says(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path / "t.csv", TABLE))
    assert [job.name for job in jobs_of(cut(trace, 1))] == ["18_1", "18_7"]
    assert "Dependency" not in shuffle(trace, 1).jobs
    with pytest.raises(SimunixError, match="column Hold of the job table cannot be scaled"):
        scale(trace, times=0.5)
    joined = merge([trace, trace])
    ids = [(job.name, job.request.dependency) for job in jobs_of(joined) if job.request]
    assert ids == [("", ""), ("", ""), ("3_1", "afterok:1,singleton"), ("3_7", ""), ("5_1", "afterok:2,singleton"), ("5_7", "")]
    assert [job.request.user for job in jobs_of(joined) if job.request] == ["alice", "alice", "bob", "bob", "bob", "bob"]


def test_names_of_a_header_are_names_of_a_table(tmp_path: Path) -> None:
    jobs = table(
        [SwfRecord(4, 0, runtime_s=5, requested=2, user=3, group=2), SwfRecord(5, 9, runtime_s=5, requested=2, user=8)]
    )
    write_trace(tmp_path / "t.csv", SwfTrace((" Note: user 3: carol",), jobs))
    lines = [line for line in (tmp_path / "t.csv").read_text().splitlines() if not line.startswith("#")]
    assert lines == ["JobID,User,Group,Submit,ElapsedRaw,ReqCPUS", "4,carol,group2,0,5,2", "5,user8,,9,5,2"]


def test_a_window_of_a_table_has_its_context(tmp_path: Path) -> None:
    head = "JobID,Submit,Start,ElapsedRaw,ReqCPUS\n"
    (tmp_path / "t.csv").write_text(f"{head}1,0,0,600,4\n2,10,610,60,4\n3,300,310,60,1\n")
    words = ["--begin", "290", "--end", "400", "--context"]
    assert main(["workload", "cut", str(tmp_path / "t.csv"), str(tmp_path / "w.csv"), *words]) == 0
    context = open_trace(tmp_path / "w.csv").context
    assert context is not None and (context.begin_s, context.running, context.waiting) == (290, (1,), (2,))
    assert open_trace(tmp_path / "t.csv").context is None


def test_a_window_of_a_table_with_arrays_has_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("JobID,Submit,Start,ElapsedRaw,ReqCPUS\n1_1,0,0,600,4\n1_2,10,610,60,4\n3,300,310,60,1\n")
    words = ["--begin", "290", "--end", "400", "--context"]
    assert main(["workload", "cut", str(tmp_path / "t.csv"), str(tmp_path / "w.csv"), *words]) == 2
    assert "a context needs jobs that each have a number of their own" in capsys.readouterr().err
