"""The daemon of a workload's policy in a plan, and policies that are refused before the run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rsg_server.errors import SimunixError
from simunix.launch.plan import Plan
from simunix.planning.expand import expand
from simunix.planning.submitting.policies import plan_policy
from simunix.rjms.scenario import load
from simunix.scenario.submit_section import PolicySection
from tests.unit.simunix.policy.simulated import Task

pytestmark = pytest.mark.slurm

SCENARIO = """\
hosts: [{name: c, cores: 4}, {name: 'n[1-2]', cores: 4}]
slurm: {controller: c, nodes: 'n[1-2]'}
workload: {trace: jobs.swf, policy: POLICY}
"""
OWN = """\
from simunix.policy import Policy

class Mine(Policy):
    def decide(self, state):
        return []
"""


def planned(folder: Path, policy: str) -> Plan:
    """Return the plan of a scenario with one job and a policy."""
    task = Task(0, 10, 60, 1)
    (folder / "jobs.swf").write_text(f"1 0 -1 {task.run:g} 1 -1 -1 1 {task.limit:g} -1 1 1 1 -1 1 -1 -1 -1\n")
    (folder / "own.py").write_text(OWN)
    (folder / "s.yaml").write_text(SCENARIO.replace("POLICY", policy))
    return expand(load(folder / "s.yaml"), folder, checked=False).plan


def test_the_daemon_runs_on_the_controller_before_jobs_are_submitted_held(tmp_path: Path) -> None:
    plan = planned(tmp_path, "{name: easy, options: {order: sjf}, on_error: go_on}")
    names = [process.name for process in plan.processes]
    daemon = plan.processes[names.index("policy")]
    assert names.index("policy") == names.index("workload") - 1
    assert daemon.host == "c" and daemon.serves and daemon.essential
    words = ("-m", "simunix.rjms.slurm.policy", "/var/log/slurm/slurmctld.log", "easy", "--goes-on", "order=sjf")
    assert daemon.argv[1:] == words
    submitted = next(file.content for file in plan.files if file.path.endswith("plan.json"))
    assert b'"--hold"' in submitted


def test_a_policy_of_ones_own_is_copied_to_the_controller(tmp_path: Path) -> None:
    plan = planned(tmp_path, "'own.py:Mine'")
    daemon = next(process for process in plan.processes if process.name == "policy")
    path = daemon.argv[4].removesuffix(":Mine")
    assert [file.content for file in plan.files if (file.host, file.path) == ("c", path)] == [OWN.encode()]


def test_without_a_policy_there_is_no_daemon(tmp_path: Path) -> None:
    assert "policy" not in [process.name for process in planned(tmp_path, "null").processes]


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        ("best", "workload.policy: 'best' is no policy; expected FILE.py:CLASS or one of fcfs,"),
        ("{name: easy, options: {depth: 3}}", "workload.policy: easy: unknown option 'depth'; expected order, backfill"),
        ("'away.py:Mine'", "away.py: No such file or directory"),
        ("'own.py:Other'", "own.py: has no class Other that derives from simunix.policy.Policy"),
    ],
)
def test_a_policy_that_cannot_be_made_is_refused(policy: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(SimunixError) as error:
        planned(tmp_path, policy)
    assert text in str(error.value) and "workload.policy" in str(error.value)


def test_an_rjms_without_policies_says_so() -> None:
    section: Any = SimpleNamespace(policy=PolicySection(name="easy"))
    cluster: Any = SimpleNamespace(
        controller="c", diary="", rjms=SimpleNamespace(title="Grid Engine", clients=SimpleNamespace(policy=""))
    )
    with pytest.raises(SimunixError) as error:
        plan_policy(section, "workload", Path(), 0, cluster, {}, "python3")
    assert str(error.value).startswith("workload.policy: Grid Engine cannot be told by simunix's policies when jobs start")
