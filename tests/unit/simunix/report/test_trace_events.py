"""The trace of a run keeps the rules of the Trace Event Format, and tells what happened."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simunix.cli.main import main
from simunix.report.trace_events import Slice, in_lanes
from tests.unit.simunix.report import runs

NEEDED = {
    "X": {"pid", "tid", "ts", "dur", "name"},
    "M": {"pid", "name", "args"},
    "i": {"pid", "tid", "ts", "name", "s"},
    "s": {"pid", "tid", "ts", "id", "name", "cat"},
    "f": {"pid", "tid", "ts", "id", "name", "cat", "bp"},
}
"""Phases, and what the format wants of each."""


def check(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The events by phase, after the rules have been checked."""
    by_phase: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for event in document["traceEvents"]:
        assert NEEDED[event["ph"]] <= set(event)
        by_phase[event["ph"]].append(event)
    tracks: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for event in by_phase["X"]:
        assert event["dur"] >= 0 and event["ts"] >= 0
        tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in tracks.values():
        assert all(end <= begin + 1e-6 for (_, end), (begin, _) in pairwise(sorted(spans))), "slices of a track overlap"
    begins, ends = ({event["id"]: event for event in by_phase[phase]} for phase in "sf")
    assert begins.keys() == ends.keys()
    assert all(ends[number]["ts"] >= begins[number]["ts"] for number in begins)
    for flow in [*by_phase["s"], *by_phase["f"]]:
        assert any(begin <= flow["ts"] <= end for begin, end in tracks[flow["pid"], flow["tid"]])
    named = {(event["pid"], event["tid"]) for event in by_phase["M"] if event["name"] == "thread_name"}
    assert {(event["pid"], event["tid"]) for event in [*by_phase["X"], *by_phase["i"]]} <= named
    return by_phase


def hosts(by_phase: dict[str, list[dict[str, Any]]]) -> dict[int, str]:
    return {event["pid"]: event["args"]["name"] for event in by_phase["M"] if event["name"] == "process_name"}


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = runs.write_run(tmp_path / "r", runs.rows(12, 4), 4)
    assert main(["trace", str(folder), "-o", str(tmp_path / "t.json")]) == 0
    assert "events; open it in" in capsys.readouterr().out
    found = check(json.loads((tmp_path / "t.json").read_text()))
    names = hosts(found)
    slices = {(names[event["pid"]], event["name"]): event for event in found["X"]}
    first = runs.rows(12, 4)[0]
    job = slices[first.allocated_hosts.split(",")[0], "job 1"]
    assert (job["ts"], job["dur"]) == (first.starting_time * 1e6, first.execution_time * 1e6)  # type: ignore[operator]
    assert slices["node0002", "client"]["ts"] == 5 and slices["node0002", "client"]["dur"] == 45
    assert slices["node0001", "true"]["ts"] == 41, "a child's birth is in its end"
    assert slices["node0001", "/usr/sbin/slurmd -D"]["dur"] == 60, "who lives on ends with the run"
    assert slices["node0002", "connect node0001:6818"]["ts"] == 30
    assert [event["name"] for event in found["i"]] == ["listen", "signal"]


def test_a_run_that_was_killed_while_it_wrote(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text(runs.events() + '{"t":70000,"ev')
    assert main(["trace", str(tmp_path)]) == 0
    assert len(check(json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes())))["X"]) == 7


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.rmdir(), "there is no such folder"),
        (lambda path: None, "is not the folder of a run"),
        (lambda path: (path / "events.jsonl").write_text("{}\n"), "events.jsonl:1: no event of a run"),
        (lambda path: (path / "events.jsonl").write_bytes(b"\xff\xfe\n"), "not a text file"),
        (lambda path: (path / "jobs.csv").write_text("a,b\n1,2\n"), "jobs.csv: column submission_time is missing"),
        (lambda path: (path / "run.json").write_text("[1]"), "run.json: expected an object"),
    ],
)
def test_what_is_no_run_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Any, message: str) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    make(folder)
    assert main(["trace", str(folder)]) != 0
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 20)), max_size=60))
def test_lanes(spans: list[tuple[int, int]]) -> None:
    lanes: dict[int, list[Slice]] = defaultdict(list)
    for lane, piece in in_lanes([Slice(begin, begin + length, "", "") for begin, length in spans]):
        lanes[lane].append(piece)
    assert sum(map(len, lanes.values())) == len(spans)
    for pieces in lanes.values():
        assert all(one.end_ns <= other.begin_ns for one, other in pairwise(pieces))
    assert sorted(lanes) == list(range(len(lanes)))
