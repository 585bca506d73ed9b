"""The submitter under a clock and an RJMS of the test's own: who is submitted when, by whom, and what is written down."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simunix.workload.guest import submitter
from simunix.workload.guest import table_submitter as table

ORIGIN = 1000.0


class World:
    """A clock that only sleeping moves, and an RJMS that runs every job at once for as long as its command says."""

    def __init__(self) -> None:
        self.now = ORIGIN
        self.jobs: dict[str, float] = {}  # ends by number
        self.calls: list[tuple[float, list[str], dict[str, Any]]] = []
        self.rows: list[list[Any]] = []

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += max(seconds, 1e-7)  # as a real one: never not at all

    def run(self, argv: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        self.calls.append((self.now - ORIGIN, list(argv), options))
        output, code = getattr(self, argv[0])(argv), 0
        if output is None:
            output, code = "", 1
        return subprocess.CompletedProcess(list(argv), code, output, "refused")

    def submit(self, argv: Sequence[str]) -> str | None:
        if argv[-1] == "never":
            return None
        number = str(len(self.jobs) + 100)
        self.jobs[number] = self.now + float(argv[-1])
        return f"{number};cluster\n"

    def unfinished(self, argv: Sequence[str]) -> str:
        return "\n".join(number for number, end in self.jobs.items() if end > self.now)

    def ended(self, argv: Sequence[str]) -> str:
        from datetime import datetime

        return f"End={datetime.fromtimestamp(self.jobs[argv[1]]).isoformat()} More=x"

    def release(self, argv: Sequence[str]) -> str:
        return ""

    def writerow(self, row: list[Any]) -> None:
        self.rows.append(row)


def play(monkeypatch: pytest.MonkeyPatch, jobs: list[dict[str, Any]], **plan: Any) -> World:
    world = World()
    with monkeypatch.context() as patch:
        patch.setattr(submitter, "time", world)
        patch.setattr(submitter, "run", world.run)
        whole = {
            "origin": ORIGIN,
            "poll_interval": 5.0,
            "unfinished": ["unfinished"],
            "ended": {"argv": ["ended", "{}"], "pattern": r"End=(\S+)"},
            "release": ["release", "{}"],
            "number": r"^(\d+)",
            "after": ["--after={}"],
            "jobs": jobs,
            **plan,
        }
        submitter.Submitter(whole, world).run()  # type: ignore[arg-type]
    return world


def entry(number: int, at: float, runs: object = 10, **others: Any) -> dict[str, Any]:
    return {"id": number, "at": at, "argv": ["submit", str(runs)], **others}


def moments(world: World) -> dict[int, float]:
    return {row[0]: float(row[2]) for row in world.rows}


def test_absolute_moments_in_the_plans_order(monkeypatch: pytest.MonkeyPatch) -> None:
    world = play(monkeypatch, [entry(5, 3), entry(2, 3), entry(9, 0)])
    assert [row[0] for row in world.rows] == [9, 5, 2]
    assert moments(world) == {9: 0, 5: 3, 2: 3}
    assert [row[4] for row in world.rows] == ["100", "101", "102"]


def test_think_time_counts_from_the_end_not_from_when_it_was_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [entry(1, 0, 12), entry(2, 99, 11, after=[0, 7.0]), entry(3, 99, 1, after=[1, 0.0])]
    world = play(monkeypatch, jobs, groups=[[1], [2]])
    assert moments(world) == {1: 0, 2: 19, 3: pytest.approx(34)}  # 12 + 7; the end at 30 is noticed 15 s after 19
    assert [float(row[1]) for row in world.rows] == [0, 19, 30]


def test_who_follows_a_refused_job_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    world = play(monkeypatch, [entry(1, 4, "never"), entry(2, 0, after=[0, 3.0])], groups=[[1]])
    assert moments(world) == {1: 4, 2: 7}
    assert world.rows[0][3:] == [1, "", "refused"]


def test_a_dependency_of_the_rjms_needs_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [entry(1, 2), entry(2, 1, needs=1), entry(3, 3, "never"), entry(4, 4, needs=3), entry(5, 5, needs=77)]
    world = play(monkeypatch, jobs)
    assert moments(world) == {1: 2, 2: pytest.approx(2), 3: 3, 4: 4, 5: 5}
    commands = [argv for _, argv, _ in world.calls]
    assert commands[1] == ["submit", "--after=100", "10"]
    assert commands[3] == ["submit", "10"] and commands[4] == ["submit", "10"]


def test_held_jobs_are_released_and_arrays_have_a_row_each(monkeypatch: pytest.MonkeyPatch) -> None:
    world = play(monkeypatch, [entry(1, 1, hold=6.0), entry(2, 3, array=[2, 5, 7])])
    assert (7.0, ["release", "100"], {}) in world.calls
    assert [(row[0], row[4]) for row in world.rows] == [(1, "100"), (2, "101_0"), (5, "101_1"), (7, "101_2")]


def test_commands_are_run_as_the_jobs_user(monkeypatch: pytest.MonkeyPatch) -> None:
    users = [{"name": "user3", "uid": 100, "groups": [200, 201]}]
    world = play(monkeypatch, [entry(1, 0, user=0), entry(2, 0)], users=users)
    options = world.calls[0][2]
    assert (options["user"], options["group"], options["extra_groups"]) == (100, 200, [200, 201])
    assert options["env"]["USER"] == "user3"
    assert world.calls[1][2] == {}


def test_a_command_that_stays_tells_the_end_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here with real commands and real, short times."""
    rows: list[list[Any]] = []

    class Rows:
        def writerow(self, row: list[Any]) -> None:
            rows.append(row)

    jobs = [
        {"id": 1, "at": 0, "argv": ["sh", "-c", "sleep 0.1"], "stays": True},
        {"id": 2, "at": 0, "argv": ["sh", "-c", "echo no; echo never >&2; exit 3"], "stays": True},
        {"id": 3, "at": 0, "argv": ["true"], "stays": True, "after": [0, 0.05]},
    ]
    plan = {"origin": submitter.time.time(), "jobs": jobs, "groups": [[1]]}
    submitter.Submitter(plan, Rows()).run()  # type: ignore[arg-type]
    assert [row[0] for row in rows] == [1, 2, 2, 3]
    assert rows[2][3:] == [3, "", "never"]
    assert float(rows[3][2]) >= 0.15


chains = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 40), st.integers(0, 20), st.integers(0, 3)), min_size=1, max_size=15
)


@given(chains)
def test_each_job_comes_once_and_never_before_its_time(rows: list[tuple[int, int, int, int]]) -> None:
    """Each of them follows the one `back` places before it, or none for 0."""
    jobs, groups = [], []
    for index, (at, runs, think, back) in enumerate(rows):
        extra: dict[str, Any] = {}
        if 0 < back <= index:
            extra["after"] = [len(groups), float(think)]
            groups.append([index - back])
        jobs.append(entry(index, at, runs, **extra))
    with pytest.MonkeyPatch.context() as patch:
        world = play(patch, jobs, groups=groups)
    assert sorted(row[0] for row in world.rows) == list(range(len(jobs)))
    found = moments(world)
    for job in jobs:
        due = float(job["at"])
        if "after" in job:
            before = groups[job["after"][0]][0]
            due = found[before] + float(jobs[before]["argv"][-1]) + job["after"][1]
        assert due - 1e-6 <= found[job["id"]] <= due + 5.0 + 1e-6  # noticed within an interval


def test_a_job_of_a_table_waits_for_the_numbers_that_it_needs() -> None:
    told: list[list[str]] = []

    def run(argv: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        told.append(list(argv))
        refused = argv[-1] == "refused"
        return subprocess.CompletedProcess(list(argv), int(refused), "" if refused else f"{500 + len(told)}\n", "no")

    clauses = {
        "option": "--dep={}",
        "joint": ",",
        "parts": [{"head": "afterok:", "items": [[1, "{}_3"], [2, "{}"], [9, "{}"]]}, {"head": "singleton", "items": []}],
    }
    jobs = [
        {"id": 30, "at": 0, "key": 3, "argv": ["submit", "third"], "clauses": clauses},
        {"id": 20, "at": 1, "key": 2, "argv": ["submit", "refused"]},
        {"id": 11, "at": 2, "key": 1, "argv": ["submit", "first"], "array": [11, 13], "indices": [1, 3]},
        {"id": 40, "at": 3, "key": 4, "argv": ["submit", "parts"], "components": [40, 41], "cancel": 0},
    ]
    rows: list[list[Any]] = []
    writer: Any = type("Writer", (), {"writerow": staticmethod(rows.append)})
    plan = {"origin": 0, "number": r"^(\d+)", "jobs": jobs, "cancel": ["cancel", "{}"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "run", run)
        table.TableSubmitter(plan, writer).run()
    found = {row[0]: (row[4], row[5]) for row in rows}
    assert found[20] == ("", "no") and found[11] == ("502_1", "") and found[13] == ("502_3", "")
    assert found[41][0] == str(int(found[40][0]) + 1)
    assert found[30][1] == "depends on 2, 9, not submitted: left out"
    assert ["submit", "--dep=afterok:502_3,singleton", "third"] in told
