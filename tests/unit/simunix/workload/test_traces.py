"""Traces in, traces out: formats, what is wrong with a file, and what each way of shaping a trace must keep."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.workload.formats import swf
from simunix.workload.formats.by_name import read_trace, write_trace
from simunix.workload.formats.swf import FIELDS, SwfRecord, SwfTrace
from simunix.workload.statistics import statistics
from simunix.workload.transforms import context, sample, shape

HERE = Path(__file__).resolve().parent
DEMO = HERE.parents[3] / "scenarios/traces/nasa-ipsc-1993-day40.swf"
LINE = "1 10 5 100 4 -1 -1 8 200 -1 1 3 1 -1 1 -1 -1 -1"
FEW = settings(max_examples=30, deadline=None)


def job(number: int, submit: float, wait: float = 0, runtime: float = 100, size: int = 4, requested: float = 200) -> SwfRecord:
    return SwfRecord(number, submit, wait, runtime, size, -1, -1, size, requested, -1, 1, 3, 1, -1, 1, -1, -1, -1)


def trace(*records: SwfRecord, head: tuple[str, ...] = (" UnixStartTime: 1000", " MaxJobs: 9", " MaxProcs: 64")) -> SwfTrace:
    return SwfTrace(head, swf.table(records))


def written(tmp_path: Path, text: str | bytes, name: str = "t.swf") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# SWF

JOBS = st.lists(
    st.builds(
        job,
        st.integers(1, 10**6),
        st.integers(0, 10**6).map(float),
        st.integers(-1, 10**4).map(float),
        st.integers(0, 10**5).map(float),
        st.integers(1, 512),
        st.integers(-1, 10**5).map(float),
    ),
    min_size=1,
    max_size=40,
)


@FEW
@given(JOBS)
def test_a_trace_survives_writing_and_reading(tmp_path_factory: pytest.TempPathFactory, records: list[SwfRecord]) -> None:
    path = tmp_path_factory.mktemp("swf") / "t.swf"
    made = trace(*records)
    swf.write_swf(path, made)
    back = swf.read_swf(path)
    assert back.comments == made.comments
    pd.testing.assert_frame_equal(back.jobs, made.jobs)
    assert back.records == tuple(records)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bytes], ids=["gz", "xz", "plain"])
def test_packed_traces(tmp_path: Path, pack: object) -> None:
    path = written(tmp_path, pack(DEMO.read_bytes()), "t.swf")  # type: ignore[operator]
    pd.testing.assert_frame_equal(swf.read_swf(path).jobs, swf.read_swf(DEMO).jobs)


def test_quick_and_careful_reading_agree() -> None:
    quick = swf._fast(DEMO.read_bytes())
    assert quick is not None
    pd.testing.assert_frame_equal(quick, swf._careful(DEMO.read_text(), DEMO)[0])


@pytest.mark.parametrize(
    ("text", "submit"),
    [
        (LINE + " 99 node[1-4]\n" + LINE + " 7\n", [10.0, 10.0]),  # more columns, not all numbers
        ("; Note: Universit\xe9\n".encode("latin-1") + LINE.encode() + b"\n", [10.0]),
        ("1 10 5 100 4\n2 11 5 100 4\n", [10.0, 11.0]),  # fewer columns, all alike
        (LINE.replace(" 10 ", " 10.5 ") + "\r\n", [10.5]),
        ("", []),
    ],
    ids=["wide", "latin-1", "narrow", "dos", "empty"],
)
def test_dialects(tmp_path: Path, text: str | bytes, submit: list[float]) -> None:
    found = swf.read_swf(written(tmp_path, text))
    assert found.jobs["submit_s"].tolist() == submit
    assert list(found.jobs.columns) == list(FIELDS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LINE + "\n" + LINE[:20], "t.swf:2: expected 18 fields, got 8"),
        (LINE + "\n\n" + LINE.replace("100", "many"), "t.swf:3: runtime_s: expected a number, got 'many'"),
        (LINE.replace(" 4 ", " 4.5 "), "t.swf:1: allocated: expected a number, got '4.5'"),
        (LINE.replace("100", "nan"), "t.swf:1: runtime_s: nan is out of range"),
        (LINE.replace("100", "1e300"), "t.swf:1: runtime_s: 1e300 is out of range"),
        ("1 2 3", "t.swf:1: expected 18 fields, got 3"),
        (b"\0\1\2", "not a text file"),
        (gzip.compress(LINE.encode(), mtime=0)[:-9], "expected a trace in SWF"),
        (lzma.compress(LINE.encode())[:-9], "expected a trace in SWF"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(SimunixError) as raised:
        swf.read_swf(written(tmp_path, text))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


# Cutting, with and without context


def test_cut_keeps_dates() -> None:
    made = shape.cut(trace(job(1, 0), job(2, 50), job(3, 100)), 50, 100)
    assert made.jobs["submit_s"].tolist() == [0.0]
    assert made.header["UnixStartTime"] == "1050"
    assert made.header["MaxJobs"] == "1"
    assert "cut to submissions from 50 s to 100 s" in made.comments[-1]


def test_context_of_a_window() -> None:
    before = [job(1, 0, 10, 500), job(2, 20, 400, 50), job(3, 30, 5, 10), job(4, 40, 60, 10, requested=-1)]
    made = context.cut_with_context(trace(*before, job(5, 100), job(6, 150)), 100, 151, settle_s=30)
    rows = made.jobs[["job", "submit_s", "wait_s", "runtime_s", "requested_s"]].to_numpy().tolist()
    assert rows == [
        [1, 0, 0, 440, 140],  # ran from 10 to 510: keeps its end, 410 s after the replay's beginning at 30
        [4, 0, 0, 40, -1],  # starts at 100, the very moment
        [2, 0, 320, 50, 200],  # waited, goes on waiting
        [5, 30, 0, 100, 200],
        [6, 80, 0, 100, 200],
    ]
    assert "2 running, 1 waiting at 100 s" in made.comments[-2]
    assert made.comments[-1] == " Context: T0=100 settle=30 running=1,4 waiting=2"
    assert context.context_of(made.comments) == context.Context(100, 30, (1, 4), (2,))
    assert context.context_of(shape.shuffle(made, 1).comments) is None
    assert context.context_of(shape.scale(made, times=2).comments) is None
    assert context.context_of(shape.scale(made, processors=2).comments) == context.context_of(made.comments)


def test_context_needs_waits() -> None:
    with pytest.raises(SimunixError, match="job 1 and 0 others before the window have no wait"):
        context.cut_with_context(trace(job(1, 0, -1), job(2, 100)), 100, 200)


# Scaling, shuffling, merging


@FEW
@given(JOBS, st.floats(0.01, 100), st.floats(0.01, 100))
def test_scaling(records: list[SwfRecord], processors: float, times: float) -> None:
    made, was = shape.scale(trace(*records), processors, times).jobs, trace(*records).jobs
    assert (made["requested"] >= 1).all()
    exact = was["requested"] * processors
    assert (np.abs(made["requested"] - exact) <= np.maximum(0.5 + 1e-9, 1 - exact)).all()
    assert made["submit_s"].tolist() == pytest.approx((was["submit_s"] * times).tolist())
    assert ((made["wait_s"] == -1) == (was["wait_s"] == -1)).all()


@FEW
@given(JOBS, st.integers(0, 99))
def test_shuffling(records: list[SwfRecord], seed: int) -> None:
    was = trace(*records)
    made, again = shape.shuffle(was, seed), shape.shuffle(was, seed)
    pd.testing.assert_frame_equal(made.jobs, again.jobs)
    assert sorted(made.jobs["job"]) == sorted(was.jobs["job"])
    assert made.jobs["submit_s"].min() == was.jobs["submit_s"].min()
    if len(records) > 1:
        assert made.jobs["submit_s"].iloc[-1] == was.jobs["submit_s"].max()
        gaps = np.diff(made.jobs["submit_s"])
        assert gaps.max() - gaps.min() <= 1e-6 * max(gaps.max(), 1.0)


def test_scaling_to_a_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "small.swf"
    assert main(["workload", "scale", str(DEMO), str(made), "--to-processors", "32"]) == 0
    found = swf.read_swf(made)
    assert found.header["MaxProcs"] == "32"
    assert found.jobs["allocated"].max() == 32
    swf.write_swf(made, trace(job(1, 0), head=()))
    assert main(["workload", "scale", str(made), str(tmp_path / "x.swf"), "--to-processors", "32"]) != 0
    assert "small.swf: the header has no MaxProcs" in capsys.readouterr().err


def test_merging() -> None:
    one = trace(job(1, 0), job(2, 50))
    other = trace(job(1, 20), head=(" UnixStartTime: 900",))
    plain, dated = shape.merge([one, other]), shape.merge([one, other], by_date=True)
    assert plain.jobs[["job", "submit_s", "user"]].to_numpy().tolist() == [[1, 0, 3], [2, 20, 7], [3, 50, 3]]
    assert dated.jobs["submit_s"].tolist() == [20.0, 100.0, 150.0]
    assert dated.header["UnixStartTime"] == "900"
    with pytest.raises(SimunixError, match="trace 2 has no UnixStartTime"):
        shape.merge([one, trace(job(1, 0), head=())], by_date=True)


def test_merging_keeps_what_precedes_what() -> None:
    after = SwfRecord(7, 60, 0, 1, 1, -1, -1, 1, 1, -1, 1, 1, 1, -1, 1, -1, 5, 3)
    merged = shape.merge([trace(job(5, 10)), trace(job(5, 0), after)]).jobs
    assert merged["preceding"].tolist() == [-1, -1, 1]


# Sampling


@FEW
@given(JOBS, st.data())
def test_samples_are_jobs_of_the_trace_in_its_order(records: list[SwfRecord], data: st.DataObject) -> None:
    was = trace(*records)
    count = data.draw(st.integers(1, len(records)))
    for made in (sample.stratified(was, count), sample.error_diffused(was, count)):
        taken = made.jobs[list(FIELDS)].to_numpy().tolist()
        rest = was.jobs.to_numpy().tolist()
        assert len(taken) == count
        for row in taken:
            rest = rest[rest.index(row) + 1 :]  # raises unless it comes later in the trace


@FEW
@given(JOBS, st.data())
def test_error_diffusion_keeps_the_work(records: list[SwfRecord], data: st.DataObject) -> None:
    was = trace(*records)
    count = data.draw(st.integers(1, len(records)))
    made = sample.error_diffused(was, count).jobs
    work = (was.jobs["requested"] * was.jobs["runtime_s"]).to_numpy()
    kept = float((made["requested"] * made["runtime_s"]).sum())
    if len(records) % count == 0:  # blocks of one size: the carried error stays below the widest choice
        assert abs(kept - work.sum() * count / len(records)) <= work.max() - work.min() + 1e-6


def test_samples_of_no_sense_are_refused() -> None:
    with pytest.raises(SimunixError, match="between 1 and the trace's 1 jobs"):
        sample.stratified(trace(job(1, 0)), 2)
    with pytest.raises(SimunixError, match="less than jobs / count = 2"):
        sample.stratified(trace(job(1, 0), job(2, 0)), 1, offset=2)
    with pytest.raises(SimunixError, match="job 1: its size or run time is unknown"):
        sample.error_diffused(trace(job(1, 0, runtime=-1)), 1)


# The command


def test_statistics() -> None:
    found = statistics(swf.read_swf(DEMO))
    assert found["jobs"] == 238
    assert found["processors"] == 128
    assert statistics(trace())["jobs"] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["cut", "FROM", "TO", "--begin", "40d", "--end", "40.5d"],
        ["scale", "FROM", "TO", "--processors", "2", "--times", "0.1"],
        ["sample", "FROM", "TO", "--count", "20"],
        ["sample", "FROM", "TO", "--count", "20", "--method", "stratified", "--offset", "3"],
        ["shuffle", "FROM", "TO", "--seed", "3"],
        ["convert", "FROM", "TO.json"],
        ["merge", "FROM", "FROM", "-o", "TO"],
    ],
    ids=" ".join,
)
def test_operations(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    names = {"FROM": str(DEMO), "TO": str(tmp_path / "to.swf.gz"), "TO.json": str(tmp_path / "to.json")}
    assert main(["workload", *(names.get(word, word) for word in arguments)]) == 0
    made = read_trace(next(tmp_path.iterdir()))
    assert f"{len(made.jobs)} jobs of " in capsys.readouterr().out


def test_stats_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workload", "stats", str(DEMO)]) == 0
    text = capsys.readouterr().out
    assert "offered load" in text and "core hours" in text and "21:07:56" in text and "e+0" not in text
    assert main(["workload", "stats", str(DEMO), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"] == 238


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stats", "nothing.swf"], "nothing.swf: No such file or directory"),
        (["stats", "x.dat"], "x.dat: cannot tell its format"),
        (["cut", str(DEMO), "to.swf", "--begin", "1d", "--end", "2d"], f"{DEMO}: no job is submitted between 86400 s"),
        (["cut", str(DEMO), "to.swf", "--begin", "2d", "--end", "1d"], "expected the beginning before the end"),
        (["cut", str(DEMO), "to.swf", "--begin", "soon"], "--begin: "),
        (["convert", str(DEMO), "to.sacct"], "to.sacct: can be read but not written"),
    ],
)
def test_bad_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["workload", *arguments]) != 0
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_files_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    for name in ("t.swf", "w.json"):
        with pytest.raises(SimunixError, match="No such file or directory"):
            write_trace(tmp_path / "nowhere" / name, trace(job(1, 0)))
