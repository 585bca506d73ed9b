"""Units, host lists, traces, overrides: what people write, and what they get wrong."""

from __future__ import annotations

from dataclasses import astuple, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix import units
from simunix.ranges import expand_hosts
from simunix.rjms.slurm.accounting import parse_line
from simunix.workload.formats.swf import FIELDS, SwfRecord, format_row, parse_record, read_swf
from simunix.workload.transforms.selection import Selection, select_jobs

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [("90", 90e9), (90, 90e9), ("50us", 50e3), ("2h30m", 9000e9), ("1 day", 86400e9), ("1.5s", 1.5e9), ("10 ms", 1e7)],
)
def test_durations(text: object, nanoseconds: float) -> None:
    assert units.duration_ns(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "fast", "5 parsecs", "-1s", "1h x", True, None, -3, float("inf")])
def test_bad_durations(text: object) -> None:
    with pytest.raises(ValueError, match="expected a duration"):
        units.duration_ns(text)


@given(st.text(max_size=12))
def test_durations_never_fail_otherwise(text: str) -> None:
    try:
        assert units.duration_ns(text) >= 0
    except ValueError as error:
        assert "expected a duration" in str(error)  # noqa: PT017


def test_rates_and_sizes() -> None:
    assert units.rate_bytes_per_s("10Gbps") == 1.25e9
    assert units.rate_bytes_per_s("125MBps") == 1.25e8
    assert units.size_bytes("64GiB") == 64 << 30
    assert units.size_bytes("500MB") == 500_000_000
    for bad in ("10", "10 Gparsec", "0bps", "fast"):
        with pytest.raises(ValueError, match="expected a rate"):
            units.rate_bytes_per_s(bad)


def test_host_lists() -> None:
    assert expand_hosts("n[1-3,7]") == ["n1", "n2", "n3", "n7"]
    assert expand_hosts("a,b[08-10]") == ["a", "b08", "b09", "b10"]
    assert expand_hosts("r[1-2]c[1-2]") == ["r1c1", "r1c2", "r2c1", "r2c2"]


@pytest.mark.parametrize("text", ["", "n[1-", "n[3-1]", "n[a]", "-x", "a b", "n[1-9999999]"])
def test_bad_host_lists(text: str) -> None:
    with pytest.raises(ValueError, match="host list"):
        expand_hosts(text)


whole = st.integers(-1, 10**9)
records = st.builds(
    SwfRecord, **{name: whole if SwfRecord.__dataclass_fields__[name].type == "int" else whole.map(float) for name in FIELDS}
)


@given(records)
def test_a_record_survives_writing_and_reading(record: SwfRecord) -> None:
    assert parse_record(format_row(astuple(record)).split(), "x:1") == record


@given(st.text(alphabet="0123456789 .-e;x", max_size=60))
def test_any_line_is_read_or_named(line: str) -> None:
    try:
        parse_record(line.split(), "trace.swf:3")
    except SimunixError as error:
        assert str(error).startswith("trace.swf:3: ")  # noqa: PT017


def test_the_demos_trace() -> None:
    trace = read_swf(ROOT / "scenarios/traces/nasa-ipsc-1993-day40.swf")
    assert trace.header["Computer"] == "Intel iPSC/860"
    assert len(trace.records) == 238
    jobs, skipped = select_jobs(trace.records, Selection(begin_s=40 * 86400, processors=2))
    assert (len(jobs), skipped) == (238, [])
    assert max(job.cores for job in jobs) == 256
    assert all(0 <= job.submit_s < 86400 for job in jobs)


def test_unknown_values_are_decided_or_named() -> None:
    base = parse_record(format_row([1, 10, -1, 100, 4, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1, -1, -1]).split(), "x:1")
    cases = [base, replace(base, job=2, runtime_s=-1), replace(base, job=3, allocated=-1), replace(base, job=4, submit_s=-1)]
    jobs, skipped = select_jobs(cases, Selection())
    assert [(job.id, job.cores, job.requested_s) for job in jobs] == [(1, 4, 100)]
    assert [job.id for job in skipped] == [2, 3, 4]


def test_jobcomp_lines_with_spaces() -> None:
    line = (
        "JobId=7 UserId=root(0) GroupId=root(0) Name=my job Nodes=3 JobState=COMPLETED Partition=p TimeLimit=60 "
        "StartTime=2000-01-01T00:00:10 EndTime=2000-01-01T00:00:20 NodeList=n[1-3] NodeCnt=3 ProcCnt=48 WorkDir=/ "
        "SubmitTime=2000-01-01T00:00:09 EligibleTime=2000-01-01T00:00:09 ExitCode=0:0 "
    )
    job = parse_line(line)
    assert (job.number, job.nodes, job.cores, job.end_s - (job.start_s or 0), job.limit_s) == (7, "n[1-3]", 48, 10, 3600)
    assert (job.user, job.account) == ("root", ""), "Slurm 20.11 has no Account in its lines"
    told = parse_line(line.replace("UserId=root(0)", "UserId=user (1)(100000)") + "Account=group2 QOS= ")
    assert (told.user, told.account, told.partition, told.qos) == ("user (1)", "group2", "p", "")
    other = parse_line(line + "Account=(null) QOS=high ")
    assert (other.account, other.qos) == ("", "high")


def test_a_job_that_was_cancelled_in_the_queue_never_started() -> None:
    """A line of Slurm 22.05, shortened: it gives the moment of the scancel as the start."""
    line = (
        "JobId=100 UserId=root(0) GroupId=root(0) Name=swf-790 JobState=CANCELLED Partition=batch TimeLimit=196 "
        "StartTime=2000-01-01T01:01:10 EndTime=2000-01-01T01:01:10 NodeList=(null) NodeCnt=0 ProcCnt=429 WorkDir=/ "
        "SubmitTime=2000-01-01T00:00:10 EligibleTime=2000-01-01T00:01:10 DerivedExitCode=0:0 ExitCode=0:0 "
    )
    job = parse_line(line)
    assert (job.state, job.start_s, job.nodes) == ("CANCELLED", None, "")
    assert job.end_s - job.submit_s == 3660
