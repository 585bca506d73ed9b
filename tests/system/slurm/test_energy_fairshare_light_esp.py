"""Light-ESP of three users (chapter 6 of Glesser's thesis): in three runs each user has each third of the jobs once."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.system.needs import with_database
from tests.system.runs import Run, run

pytestmark = [pytest.mark.slurm, pytest.mark.slow, with_database]
SCENARIO = ROOT / "scenarios/glesser-efs.yaml"
TRACES = ("glesser-efs.swf", "glesser-efs-2.swf", "glesser-efs-3.swf")
POLICIES = {
    "fs": ["slurm.parameters.PriorityWeightFairshare=100000"],
    "efs": ["slurm.energy_fairshare.policy=efs", "slurm.energy_fairshare.interval=10s"],
    "fs+efs": ["slurm.energy_fairshare.policy=fs+efs", "slurm.energy_fairshare.interval=10s"],
}


def stretches(done: Run) -> dict[str, list[float]]:
    """(wait + run time) / run time of the jobs of each user."""
    found: dict[str, list[float]] = {"user1": [], "user2": [], "user3": []}
    for row in done.rows:
        if row["user"] in found:
            runtime_s = float(row["profile"].split()[1])
            waited_s = float(row["starting_time"]) - float(row["submission_time"])
            found[row["user"]].append(1 + waited_s / runtime_s)
    assert [len(each) for each in found.values()] == [76] * 3
    return found


def means(simunix: Simunix, folder: Path, policy: str) -> list[float]:
    """The mean stretch of each user in all three runs."""
    all_jobs: dict[str, list[float]] = {}
    for trace in TRACES:
        told = [*POLICIES[policy], f"workload.trace={SCENARIO.parent}/traces/{trace}"]
        options = [word for each in told for word in ("--set", each)]
        for user, found in stretches(run(simunix, SCENARIO, folder / policy / trace, *options)).items():
            all_jobs.setdefault(user, []).extend(found)
    return [sum(each) / len(each) for each in all_jobs.values()]


@pytest.mark.endurance
def test_energy_orders_users_and_time_does_not(simunix: Simunix, tmp_path: Path) -> None:
    found = {policy: means(simunix, tmp_path, policy) for policy in POLICIES}
    fs, efs, both = found.values()
    assert max(fs) == pytest.approx(min(fs), rel=1e-3), found  # one schedule, whose users have other names
    for each in (efs, both):
        assert all(frugal < other for frugal, other in pairwise(each)), found
        assert each[2] > 1.2 * each[0], found
    assert efs[0] < both[0] < fs[0], found  # who is frugal gains less if time counts as well
