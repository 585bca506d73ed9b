"""The jobs of a finished run as a trace: who they were of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from simunix.results.as_trace import read_trace
from tests.unit.simunix.report import runs


def test_users_and_groups_have_their_numbers_again(tmp_path: Path) -> None:
    people = [("user12", "group3"), ("alice", "physics"), ("user4", ""), ("", "group1"), ("root", "physics")]
    jobs = [replace(row, user=user, account=account) for row, (user, account) in zip(runs.rows(5, 2), people, strict=True)]
    trace = read_trace(runs.write_run(tmp_path / "r", jobs, 2))
    assert trace.jobs["user"].tolist() == [12, 13, 4, -1, 14]
    assert trace.jobs["group"].tolist() == [3, 4, -1, 1, 4]
    assert {" Note: user 13: alice", " Note: user 14: root", " Note: group 4: physics"} <= set(trace.comments)


def test_numbers_are_numbers_and_nobody_is_unknown(tmp_path: Path) -> None:
    folder = runs.write_run(tmp_path / "r", [replace(row, user="-1") for row in runs.rows(3, 2)], 2)
    assert read_trace(folder).jobs["user"].tolist() == [-1, -1, -1]
    text = (folder / "jobs.csv").read_text().replace(",-1,", ",5,")
    (folder / "jobs.csv").write_text(text)
    assert read_trace(folder).jobs["user"].tolist() == [5, 5, 5]
