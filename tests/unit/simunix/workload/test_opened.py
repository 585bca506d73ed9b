"""A trace is opened once: its jobs and its context come from one read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.workload.formats import swf
from simunix.workload.opened import open_trace
from simunix.workload.transforms.context import Context

CONTEXT = Context(0, 60, (1,), (2,))
JOBS = "".join(f"{job} 0 -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n" for job in (1, 2, 3))


def test_one_read_gives_jobs_and_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: Counter[Path] = Counter()
    read_bytes = swf.read_bytes

    def counted(path: Path, *arguments: str) -> bytes:
        reads[path] += 1
        return read_bytes(path, *arguments)

    monkeypatch.setattr(swf, "read_bytes", counted)
    trace = tmp_path / "w.swf"
    trace.write_text(f";{CONTEXT.line()}\n{JOBS}")
    opened = open_trace(trace)
    assert opened.records is not None and [record.job for record in opened.records.records] == [1, 2, 3]
    assert opened.context == CONTEXT and opened.of_context == (1, 2)
    assert reads == {trace: 1}


def test_a_header_that_cannot_be_read_is_said_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "w.swf").write_text(f"; Context: T0=x settle=1 running= waiting=\n{JOBS}")
    with pytest.raises(SimunixError, match=r"w\.swf: header: expected Context: T0=0"):
        open_trace(tmp_path / "w.swf")


def test_a_trace_of_another_ending_tells_no_context(tmp_path: Path) -> None:
    (tmp_path / "w.log").write_text(f";{CONTEXT.line()}\n{JOBS}")
    opened = open_trace(tmp_path / "w.log")
    assert opened.records is not None and opened.context is None and opened.of_context == ()


def test_a_workload_of_batsim_has_no_records() -> None:
    opened = open_trace(Path(__file__).with_name("batsim_test_delays.json"))
    assert opened.batsim is not None and opened.records is None and opened.context is None
