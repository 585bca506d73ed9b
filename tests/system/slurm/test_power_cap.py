"""Power caps on one rack of Curie, 90 nodes, for five hours: the computed power is never above the cap in its window."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from simunix.results.machines import parse_intervals
from simunix.rjms.slurm.power.watts import work as work_of
from tests.conftest import ROOT, Simunix
from tests.system.runs import Run, run, run_twice
from tests.unit.simunix.rjms.slurm.test_watts import RACK

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SCENARIO = ROOT / "scenarios/glesser-powercap.yaml"
MOST_W = 34_360
"""Table 4.1: a rack of five chassis whose nodes all compute at 2.7 GHz."""
BEGIN_S, END_S = 7200.0, 10800.0


@dataclass(frozen=True, slots=True)
class Power:
    """The rows of power.csv: the power of all nodes and enclosures at every change of it, and the cap."""

    rows: tuple[tuple[float, float, str], ...]

    def between(self, begin_s: float, end_s: float) -> list[float]:
        """Every power that there was between two moments."""
        before = [watts for time, watts, _ in self.rows if time <= begin_s]
        return [before[-1], *(watts for time, watts, _ in self.rows if begin_s < time < end_s)]


def power(done: Run) -> Power:
    rows = csv.DictReader((done.out / "power.csv").read_text().splitlines())
    return Power(tuple((float(row["time"]), float(row["watts"]), row["cap"]) for row in rows))


def capped(simunix: Simunix, out: Path, policy: str, percent: int) -> Run:
    told = [f"slurm.power_cap.policy={policy}", f"slurm.power_cap.caps.0.watts={percent}%"]
    told += ["slurm.power_cap.floor=2.08Gf"] if policy == "mix" else []
    told += ["slurm.power_cap.frequencies=even"] if policy in ("mix", "dvfs") else []
    return run(simunix, SCENARIO, out, *(word for each in told for word in ("--set", each)), timeout=900)


def states(done: Run) -> list[tuple[float, int]]:
    """When some machines went to which power state."""
    rows = csv.DictReader((done.out / "pstate_changes.csv").read_text().splitlines())
    return [(float(row["time"]), int(row["new_pstate"])) for row in rows]


@pytest.mark.parametrize(
    "percent", [pytest.param(80, marks=pytest.mark.endurance), 60, pytest.param(40, marks=pytest.mark.endurance)]
)
@pytest.mark.parametrize(
    "policy", [pytest.param("shut", marks=pytest.mark.endurance), pytest.param("dvfs", marks=pytest.mark.endurance), "mix"]
)
def test_the_cap_holds_at_every_instant(simunix: Simunix, tmp_path: Path, policy: str, percent: int) -> None:
    done = capped(simunix, tmp_path / "out", policy, percent)
    found = power(done)
    cap_w = MOST_W * percent / 100
    assert {cap for time, _, cap in found.rows if BEGIN_S <= time < END_S} == {f"{cap_w:.0f}"}
    inside = found.between(BEGIN_S, END_S)
    assert max(inside) <= cap_w
    assert max(inside) > 0.85 * cap_w  # the cap is used, not just kept
    assert max(found.between(0, BEGIN_S - 600)) > 0.95 * MOST_W  # without a cap nearly all nodes compute
    assert max(found.between(END_S + 600, 18000)) > 0.9 * MOST_W  # and again after it
    changes = states(done)
    assert any(state == -1 for _, state in changes) == (policy == "shut" or (policy == "mix" and percent < 75))
    lowered = [time for time, state in changes if state > 0]
    assert bool(lowered) == (policy != "shut")
    if lowered:
        assert min(lowered) < BEGIN_S  # jobs that reach into the window are lowered before it, as in Figure 4.4
    formula = work_by_formula(policy, cap_w)
    assert 0.85 * formula < work(done) <= 1.001 * formula
    if policy == "mix":
        assert max(state for _, state in changes) <= 3  # 2.0 GHz, 269 W
    assert done.record["deterministic"]


@pytest.mark.endurance
def test_idle_only_does_the_least_work(simunix: Simunix, tmp_path: Path) -> None:
    idle, shut = (capped(simunix, tmp_path / policy, policy, 60) for policy in ("idle", "shut"))
    assert max(power(idle).between(BEGIN_S, END_S)) <= 0.6 * MOST_W
    assert work(idle) < work(shut)


def work_by_formula(policy: str, cap_w: float) -> float:
    """Glesser's W / T by N (chapter 4), for all nodes in the window."""
    states = {"shut": (0,), "mix": (0, 1, 2, 3)}.get(policy, tuple(range(8)))
    return work_of(RACK, cap_w, states, may_switch=policy != "dvfs") / len(RACK.nodes)


def machines(text: str) -> list[int]:
    """The machines of a set of intervals; a node has one core here, and so one machine."""
    return [machine for low, high in parse_intervals(text) for machine in range(low, high + 1)]


def work(done: Run) -> float:
    """Work of jobs in the window, by that of all nodes at 2.7 GHz; each node at the speed of its power state at the moment."""
    changes: list[list[tuple[float, int]]] = [[(0.0, 0)] for _ in RACK.nodes]
    for row in csv.DictReader((done.out / "pstate_changes.csv").read_text().splitlines()):
        for machine in machines(row["machine_id"]):
            changes[machine].append((float(row["time"]), int(row["new_pstate"])))
    total = 0.0
    for row in done.rows:
        if row["finish_time"]:
            begin, end = max(float(row["starting_time"]), BEGIN_S), min(float(row["finish_time"]), END_S)
            for machine in machines(row["allocated_resources"]):
                for (since, state), (until, _) in pairwise([*changes[machine], (18000.0, 0)]):
                    total += max(0.0, min(end, until) - max(begin, since)) * RACK.speeds[state]
    return total / (len(RACK.nodes) * RACK.speeds[0] * (END_S - BEGIN_S))


@pytest.mark.endurance
def test_two_runs_are_one(simunix: Simunix, tmp_path: Path) -> None:
    options = ("--set", "slurm.power_cap.caps.0.watts=40%", "--until", "2h30min")
    first, _ = run_twice(simunix, SCENARIO, tmp_path, *options, timeout=600)
    plan = json.loads(first.file("controller", "etc_slurm/power_cap.json"))
    assert [cap["off"] for cap in plan["caps"]] == [""]
