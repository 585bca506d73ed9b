"""Fair-share by energy on three nodes: who consumes less waits less; if all are as efficient, it is fair-share by time."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.needs import with_database
from tests.system.runs import Run, run, run_twice

pytestmark = [pytest.mark.slurm, pytest.mark.slow, with_database]
SCENARIO = """
name: efs
seed: 1
epoch: 2000-01-01T00:00:00Z
hosts:
  - {name: ctl, cores: 4}
  - {name: 'n[1-3]', cores: 4, wattage_per_state: '100:400'}
slurm:
  controller: ctl
  nodes: 'n[1-3]'
  accounting_storage_type: slurmdbd
  scheduler_parameters: bf_interval=10,sched_interval=10
  parameters:
    PriorityType: priority/multifactor
    PriorityFlags: NO_FAIR_TREE
    PriorityCalcPeriod: 1
    PriorityWeightFairshare: %s
  %s
workload:
  trace: w.swf
  start: 10s
  profile: compute
  users: trace
  options: [%s]
stop: workload
"""
RUNTIMES_S = (60, 100, 75, 130, 90, 115, 65, 120, 85, 105, 70, 125, 80, 95, 110, 60, 100, 90)
"""Of each user's jobs. They end one after the other, so that one at a time is chosen."""
OTHER, EQUAL = (1, 2, 3), (2, 2, 2)
"""Cores that the users' jobs load on their nodes of four: 175, 250 and 325 W, 30 % less and more than the second user's."""
POLICIES = {
    "fifo": ("0", "login: ctl"),
    "fs": ("100000", "login: ctl"),
    "efs": ("0", "energy_fairshare: {policy: efs, interval: 10s}"),
    "fs+efs": ("0", "energy_fairshare: {policy: fs+efs, interval: 10s}"),
}


def user_of(place: int) -> int:
    """Whose job it is: each user is the first of three as often as the others."""
    return (place + place // 3) % 3


def prepared(folder: Path, policy: str, cores: tuple[int, ...]) -> Path:
    rows = ["; MaxProcs: 12"]
    for place in range(3 * len(RUNTIMES_S)):
        user, runtime_s = user_of(place), RUNTIMES_S[place // 3]
        size = cores[user]
        rows.append(f"{place + 1} {place // 3} -1 {runtime_s} {size} -1 -1 {size} 180 -1 1 {user + 1} 1 1 1 1 -1 -1")
    weight, keys = POLICIES[policy]
    options = ", ".join(
        f"{{users: {user}, arguments: [--exclusive, --ntasks-per-node={size}]}}" for user, size in enumerate(cores, 1)
    )
    (folder / "w.swf").write_text("\n".join(rows) + "\n")
    (folder / "s.yaml").write_text(SCENARIO % (weight, keys, options))
    return folder / "s.yaml"


def stretches(done: Run) -> list[float]:
    """The mean of (wait + run time) / run time of each user."""
    found: list[list[float]] = [[], [], []]
    for number, row in done.jobs.items():
        waited = float(row["starting_time"]) - float(row["submission_time"])
        found[user_of(number - 1)].append(1 + waited / RUNTIMES_S[(number - 1) // 3])
    assert [len(each) for each in found] == [len(RUNTIMES_S)] * 3
    return [sum(each) / len(each) for each in found]


def ran(simunix: Simunix, folder: Path, policy: str, cores: tuple[int, ...] = OTHER) -> list[float]:
    folder.mkdir()
    return stretches(run(simunix, prepared(folder, policy, cores), folder / "out"))


def test_without_energy_all_users_wait_alike(simunix: Simunix, tmp_path: Path) -> None:
    for policy in ("fifo", "fs"):
        found = ran(simunix, tmp_path / policy, policy)
        assert max(found) < 1.15 * min(found), (policy, found)


def test_energy_orders_users_by_efficiency(simunix: Simunix, tmp_path: Path) -> None:
    efs, both = (ran(simunix, tmp_path / policy, policy) for policy in ("efs", "fs+efs"))
    for found in (efs, both):
        assert all(frugal < next_one for frugal, next_one in pairwise(found)), found
    assert 1.2 * efs[0] < efs[2]
    assert both[2] - both[0] < efs[2] - efs[0]


def test_with_equal_efficiency_energy_is_time(simunix: Simunix, tmp_path: Path) -> None:
    time, energy = (ran(simunix, tmp_path / policy, policy, EQUAL) for policy in ("fs", "efs"))
    assert energy == pytest.approx(time, rel=0.1)


def test_joules_are_those_of_the_meters(simunix: Simunix, tmp_path: Path) -> None:
    first, _ = run_twice(simunix, prepared(tmp_path, "efs", OTHER), tmp_path, "--until", "8min")
    last = first.output("ctl", "energy-fairshare").splitlines()[-1]
    moment_s = datetime.fromisoformat(last.split()[0] + "+00:00").timestamp() - float(first.record["epoch_s"])
    for user in range(3):
        found = re.search(rf"user{user + 1}@trace (\d+) J", last)
        assert found is not None, last
        ended = [row for row in first.rows if row["finish_time"] and user_of(int(row["job_id"]) - 1) == user]
        joules = {float(row["finish_time"]): float(row["consumed_energy"]) for row in ended}
        counted = sum(each for end, each in joules.items() if end < moment_s - 12)
        assert 0 < 0.99 * counted <= int(found[1]) <= 1.01 * sum(joules.values())
