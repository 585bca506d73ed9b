"""The loop of a policy's daemon: refusals, errors of a policy, and jobs that do not start."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from simunix.policy import Action, Job, Node, Policy, Requeue, Start, State, Wake
from simunix.policy.daemon import NOT_STARTED, PATIENCE_S, Daemon, options_of
from simunix.policy.shipped import PolicyError, make

JOB = Job("7", "j", "u", "", "", 2, 1, 60.0, 0.0, "PENDING")


@dataclass
class Port:
    """A port that notes actions and never starts anything."""

    now: float = 0.0
    waiting: list[Job] = field(default_factory=lambda: [JOB])
    done: list[Action] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    reason: str = ""

    def wait(self, until_s: float | None) -> None:
        raise AssertionError("the test steps")

    def state(self) -> State:
        return State(self.now, self.waiting, [], [Node("n", 4, 4, "idle")])

    def act(self, action: Action) -> str:
        self.done.append(action)
        return self.reason

    def take_back(self, job: str) -> None:
        self.back.append(job)


class Says(Policy):
    """A policy that says the next of its texts, and remembers what it saw."""

    def __init__(self, *decisions: list[Action]) -> None:
        self.decisions = list(decisions)
        self.seen: list[State] = []

    def decide(self, state: State) -> Iterable[Action]:
        self.seen.append(state)
        return self.decisions.pop(0) if self.decisions else []


def test_a_job_that_was_told_to_start_counts_as_running_until_it_is_taken_back() -> None:
    port, policy = Port(), Says([Start("7", ("n",))])
    daemon = Daemon(policy, port)
    daemon.step()
    daemon.step()
    assert policy.seen[1].waiting == [] and policy.seen[1].running[0].placed == {"n": 2}
    assert policy.seen[1].nodes[0].free == 2
    port.now = PATIENCE_S
    daemon.step()
    assert port.back == ["7"] and policy.seen[2].refused == {"7": NOT_STARTED} and policy.seen[2].waiting == [JOB]


def test_refusals_are_seen_at_the_next_decision() -> None:
    port, policy = Port(reason="no such node"), Says([Start("7", ("n",))], [])
    daemon = Daemon(policy, port)
    daemon.step()
    daemon.step()
    daemon.step()
    assert [state.refused for state in policy.seen] == [{}, {"7": "no such node"}, {}]


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (Start("8", ("n",)), "job 8 does not wait for the policy"),
        (Start("7", ("m",)), "there is no node m"),
        (Requeue("7"), "job 7 does not run"),
    ],
)
def test_what_makes_no_sense_is_refused_without_asking_the_rjms(action: Start | Requeue, reason: str) -> None:
    port, policy = Port(), Says([action])
    daemon = Daemon(policy, port)
    daemon.step()
    daemon.step()
    assert port.done == [] and policy.seen[1].refused == {action.job: reason}


def test_a_job_is_started_once() -> None:
    port, policy = Port(), Says([Start("7", ("n",)), Start("7", ("n",))])
    daemon = Daemon(policy, port)
    daemon.step()
    assert len(port.done) == 1


def test_a_wake_is_not_told_to_the_rjms() -> None:
    port = Port()
    Daemon(Says([Wake(5.0)]), port).step()
    assert port.done == []


class Wrong(Policy):
    def decide(self, state: State) -> Iterable[Action]:
        raise ZeroDivisionError("no nodes")


def test_an_error_of_a_policy_ends_the_daemon_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        Daemon(Wrong(), Port()).step()
    printed = capsys.readouterr()
    assert printed.err.startswith(f"policy: {__file__}, line ") and "ZeroDivisionError: no nodes" in printed.err
    assert "ZeroDivisionError" in json.loads(printed.out)["error"]


def test_what_is_no_action_is_an_error_of_the_policy(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        Daemon(Says(["7"]), Port()).step()  # type: ignore[list-item]
    assert "TypeError: decide returned '7'; expected Start, Release, Requeue, Wake" in capsys.readouterr().err


def test_a_daemon_that_goes_on_leaves_the_jobs_in_the_queue(capsys: pytest.CaptureFixture[str]) -> None:
    port = Port()
    Daemon(Wrong(), port, goes_on=True).step()
    assert port.done == [] and "ZeroDivisionError" in capsys.readouterr().out


def test_options_are_numbers_where_they_look_like_numbers() -> None:
    assert options_of({"a": "1", "b": "0.5", "c": "sjf"}) == {"a": 1, "b": 0.5, "c": "sjf"}


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("best", {}, "'best' is no policy; expected FILE.py:CLASS or one of fcfs, sjf,"),
        ("easy", {"deep": 3}, "easy: unknown option 'deep'; expected order, backfill"),
        ("easy", {"order": "lifo"}, "easy: order: 'lifo' is no order of the queue; expected fcfs,"),
        ("capped-easy", {}, "capped-easy: "),
        ("/nowhere/own.py:Mine", {}, "/nowhere/own.py: No such file or directory"),
    ],
)
def test_a_policy_that_cannot_be_made(name: str, options: dict[str, object], text: str) -> None:
    with pytest.raises(PolicyError) as error:
        make(name, options)
    assert str(error.value).startswith(text)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("x = 1\n", "has no class Mine that derives from simunix.policy.Policy"),
        ("x = 1\ny = 1 / 0\n", "line 2: ZeroDivisionError"),
        ("class Mine(\n", "line 1: SyntaxError"),
    ],
)
def test_a_file_without_a_policy(source: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(source)
    with pytest.raises(PolicyError) as error:
        make(f"{path}:Mine", {})
    assert text in str(error.value)
