"""Energy budgets on twelve nodes: what is consumed stays within the joules, also where the power exceeds its limit."""

from __future__ import annotations

import csv
import random
import re
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import Run, run

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SCENARIO = """
name: budget
seed: 1
epoch: 2000-01-01T00:00:00Z
hosts:
  - {name: ctl, cores: 4}
  - {name: 'n[01-12]', cores: 1, wattage_per_state: '117:358', wattage_off: 14, boot_time: 1min}
slurm: {controller: ctl, nodes: 'n[01-12]', %s}
workload: {trace: w.swf, start: 10s, profile: compute}
stop: time
until: 95min
"""
MOST_J = 12 * 358 * 3600
BEGIN_S, END_S = 1800, 5400


def ran(simunix: Simunix, folder: Path, name: str, keys: str) -> Run:
    some, time = random.Random(5), 0
    rows = ["; MaxProcs: 12"]
    while time < 5400:
        time += some.randrange(20, 160)
        nodes, seconds = some.choice((1, 1, 2, 3, 4, 6, 9)), some.randrange(120, 1200)
        limit = -(-int(seconds * 1.4) // 60) * 60
        rows.append(f"{len(rows)} {time} -1 {seconds} {nodes} -1 -1 {nodes} {limit} -1 1 1 1 -1 1 1 -1 -1")
    (folder / "w.swf").write_text("\n".join(rows) + "\n")
    (folder / f"{name}.yaml").write_text(SCENARIO % keys)
    return run(simunix, folder / f"{name}.yaml", folder / name)


def budget(policy: str, part: str) -> str:
    return f"power_budget: {{policy: {policy}, joules: {part}, start: 30min, end: 90min}}"


def consumed(done: Run) -> tuple[float, float]:
    """Joules between begin and end, and the highest power there, from every change of the power."""
    rows = [
        (float(row["time"]), float(row["watts"])) for row in csv.DictReader((done.out / "power.csv").read_text().splitlines())
    ]
    joules = most = 0.0
    for (time, watts), (until, _) in zip(rows, [*rows[1:], (float(END_S), 0.0)], strict=True):
        seconds = min(until, END_S) - max(time, BEGIN_S)
        if seconds > 0:
            joules, most = joules + watts * seconds, max(most, watts)
    return joules, most


@pytest.mark.parametrize("policy", ["powercap", "energyBud", "reducePC"])
def test_joules_stay_within_the_budget(simunix: Simunix, tmp_path: Path, policy: str) -> None:
    done = ran(simunix, tmp_path, policy, budget(policy, "70%"))
    joules, most = consumed(done)
    assert 0.75 * 0.7 * MOST_J < joules <= 0.7 * MOST_J
    told = re.search(r"budget: (\d+) J of (\d+) J", done.output("ctl", "power-cap"))
    assert told and abs(int(told[1]) - joules) <= 1 and int(told[2]) == round(0.7 * MOST_J)
    assert (most > 0.7 * MOST_J / 3600) == (policy != "powercap")


def test_a_budget_for_everything_is_none(simunix: Simunix, tmp_path: Path) -> None:
    free, bound = (
        ran(simunix, tmp_path, name, keys)
        for name, keys in (("free", "partition: batch"), ("bound", budget("energyBud", "100%")))
    )
    starts = [{number: row["starting_time"] for number, row in done.jobs.items()} for done in (free, bound)]
    assert starts[0] == starts[1]


def test_idle_nodes_that_go_off_leave_joules_to_jobs(simunix: Simunix, tmp_path: Path) -> None:
    saving = "power_saving: {suspend_time: 2min, suspend_timeout: 30s, resume_timeout: 5min, suspend_rate: 0, resume_rate: 0}"
    stay, go = (
        ran(simunix, tmp_path, name, ", ".join(keys))
        for name, keys in (("stay", [budget("energyBud", "50%")]), ("go", [budget("energyBud", "50%"), saving]))
    )
    for done in (stay, go):
        assert 0.75 * 0.5 * MOST_J < consumed(done)[0] <= 0.5 * MOST_J
    assert not any('"host_off"' in line for line in stay.events)
    assert sum('"host_off"' in line for line in go.events) > 12
    assert work(go) > 1.1 * work(stay)


def work(done: Run) -> float:
    """Node seconds of jobs while the budget counts."""
    found = 0.0
    for row in done.rows:
        if row["finish_time"]:
            seconds = min(float(row["finish_time"]), END_S) - max(float(row["starting_time"]), BEGIN_S)
            found += max(0.0, seconds) * int(row["requested_number_of_resources"])
    return found
