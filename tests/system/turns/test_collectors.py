"""Programs of a plan that collect: they run when the run is finished or its time is up, and the run ends after them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from simunix.launch.emulation import Emulation
from simunix.launch.plan import ProcessSpec
from simunix.launch.run_directory import RunDirectory
from simunix.planning.expand import expand
from simunix.rjms.scenario import load

SCENARIO = """
name: collecting
hosts: [{{name: 'a,b'}}]
stop: {stop}
until: 1min
{processes}
"""
PROCESSES = "processes: [{name: daemon, host: a, command: 'sleep 3000'}, {name: work, host: b, command: 'sleep 20'}]"
FAILING = """
processes:
  - {name: daemon, host: a, essential: true, command: 'sleep 10; exit 3'}
  - {name: work, host: b, command: 'sleep 60'}
"""


class Ended(NamedTuple):
    """How a run ended, and when."""

    reason: str
    failure: str | None
    at_s: float


SLOW = ("/bin/sh", "-c", "sleep 5; date +%s")


def run(
    tmp_path: Path,
    stop: str,
    argv: tuple[str, ...] = SLOW,
    essential: bool = True,
    events: str = "",
    processes: str = PROCESSES,
    interrupted_s: float | None = None,
) -> Ended:
    """Run the scenario with a program on the host `a` that collects; its user may end it at a moment of virtual time."""
    (tmp_path / "s.yaml").write_text(SCENARIO.format(stop=stop, processes=processes) + events)
    plan = expand(load(tmp_path / "s.yaml"), tmp_path).plan
    collector = ProcessSpec("collector", "a", argv, collects=True, essential=essential)
    plan = replace(plan, processes=(*plan.processes, collector))
    with RunDirectory.create(tmp_path / "out") as directory, closing(Emulation(plan, directory)) as emulation:
        if interrupted_s is not None:
            emulation.kernel.timeline.add(int(interrupted_s * 1e9), emulation.service.interrupt)
        emulation.run()
        return Ended(emulation.service.reason, emulation.failure, emulation.kernel.now_ns / 1e9)


@pytest.mark.parametrize(("stop", "reason", "end_s"), [("work", "done", 25), ("time", "time limit", 65)])
def test_the_run_ends_after_what_collects(tmp_path: Path, stop: str, reason: str, end_s: float) -> None:
    assert run(tmp_path, stop) == (reason, None, pytest.approx(end_s, abs=0.1))
    assert (tmp_path / "out/hosts/a/collector.out").read_text().strip().isdigit()


def test_a_failure_to_collect_fails_the_run_if_it_is_essential(tmp_path: Path) -> None:
    ended = run(tmp_path, "work", ("/bin/false",))
    assert ended.failure is not None and "a: collector ended with exit code 1 at 20.0" in ended.failure


def test_a_failure_to_collect_does_not_matter_else(tmp_path: Path) -> None:
    assert run(tmp_path, "time", ("/bin/false",), essential=False)[:2] == ("time limit", None)


def test_nothing_can_be_collected_on_a_host_that_is_off(tmp_path: Path) -> None:
    ended = run(tmp_path, "work", events="events: [{at: 10s, host: a, state: off}]\n")
    assert ended.failure == "a: collector cannot collect what the run has left there: the host is off"


def test_a_run_that_fails_collects_first(tmp_path: Path) -> None:
    ended = run(tmp_path, "work", events="", processes=FAILING)
    assert ended[::2] == ("failed", pytest.approx(15, abs=0.1))
    assert ended.failure is not None and ended.failure.startswith("a: daemon ended with exit code 3 at 10.0")
    assert (tmp_path / "out/hosts/a/collector.out").read_text().strip().isdigit()


@pytest.mark.parametrize(
    ("argv", "ended_s"),
    [(SLOW, 15), (("/bin/false",), 10), (("/bin/sleep", "1000"), 70)],
    ids=["collects", "fails", "takes too long"],
)
def test_a_run_that_its_user_ends_collects_first(tmp_path: Path, argv: tuple[str, ...], ended_s: float) -> None:
    ended = run(tmp_path, "work", argv, interrupted_s=10)
    assert ended == ("interrupted", None, pytest.approx(ended_s, abs=0.1))


def test_nothing_is_collected_of_a_host_that_is_off_when_the_user_ends_the_run(tmp_path: Path) -> None:
    events = "events: [{at: 5s, host: a, state: off}]\n"
    assert run(tmp_path, "work", events=events, interrupted_s=10) == ("interrupted", None, pytest.approx(10, abs=0.1))
