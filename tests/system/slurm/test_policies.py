"""Policies in Python that decide for a real Slurm."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from simunix.policy.backfilling import Easy
from simunix.policy.ordered import Fcfs
from tests.conftest import Simunix
from tests.unit.simunix.policy.simulated import Cluster, Task

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SCENARIO = """\
name: policies
epoch: 2000-01-01T00:00:00Z
hosts: [{name: c, cores: 4}, {name: 'n[1-4]', cores: 4}]
slurm: {controller: c, nodes: 'n[1-4]'}
workload: {trace: jobs.swf, policy: POLICY}
"""
TASKS = [
    Task(0, 100, 180, 6),
    Task(10, 60, 120, 12),
    Task(20, 30, 60, 2),
    Task(40, 200, 300, 4),
    Task(60, 40, 60, 1),
    Task(80, 120, 240, 16),
    Task(100, 50, 120, 8),
    Task(400, 20, 60, 3),
    Task(420, 20, 60, 16),
]
SLACK_S = 12
"""Slurm starts a released job up to 3 s later; a job here begins after three others at most."""


def run(simunix: Simunix, folder: Path, policy: str, name: str = "run", expected: int = 0) -> Path:
    """Run the jobs of TASKS under a policy. Return the run directory."""
    rows = [
        f"{rank} {task.submit:g} -1 {task.run:g} {task.cores} -1 -1 {task.cores} {task.limit - 60:g} -1 1 1 1 -1 1 -1 -1 -1"
        for rank, task in enumerate(TASKS, 1)
    ]
    (folder / "jobs.swf").write_text("\n".join(rows) + "\n")
    (folder / "s.yaml").write_text(SCENARIO.replace("POLICY", policy))
    done = simunix("run", folder / "s.yaml", "--out", folder / name, timeout=200)
    (folder / f"{name}.txt").write_text(done.stdout + done.stderr)
    assert done.returncode == expected, done.stdout + done.stderr
    return folder / name


def starts(out: Path) -> dict[str, float]:
    """Return the start of each job in seconds after the first submission."""
    with (out / "jobs.csv").open() as file:
        rows = list(csv.DictReader(file))
    first = min(float(row["submission_time"]) for row in rows)
    return {row["job_id"]: float(row["starting_time"]) - first for row in rows}


def test_easy_on_slurm_starts_jobs_as_easy_in_a_simulation(simunix: Simunix, tmp_path: Path) -> None:
    simulated = Cluster(TASKS, 4, 4).run(Easy())
    real = starts(run(simunix, tmp_path, "easy"))
    assert {id: real[id] - simulated[id] for id in simulated if not -1 <= real[id] - simulated[id] <= SLACK_S} == {}
    assert simulated != Cluster(TASKS, 4, 4).run(Fcfs())


def test_two_runs_of_a_policy_are_the_same_to_the_byte(simunix: Simunix, tmp_path: Path) -> None:
    runs = [run(simunix, tmp_path, "{name: conservative, options: {order: wfp3}}", name) for name in ("one", "two")]
    logs = [(out / "events.jsonl").read_bytes() for out in runs]
    assert logs[0] == logs[1] and len(starts(runs[0])) == len(TASKS)


OWN = """\
from simunix.policy import Policy, Release, Start

class Odd(Policy):
    def __init__(self, fails_at: int = 10**9):
        self.fails_at = fails_at
        self.seen = []

    def decide(self, state):
        if len(state.history) + len(state.ended) >= self.fails_at:
            raise KeyError("no such plan")
        self.seen.append(dict(state.refused))
        for job in state.waiting:
            if job.id == "1" and {"1": "there is no node moon"} not in self.seen:
                yield Start("1", ("moon",))
            elif job.id == "3" and not any("3" in refused for refused in self.seen):
                yield Start("3", ("n1", "n2", "n3"))  # two cores on three nodes: Slurm does not start the job
            else:
                yield Release(job.id)
"""


def test_a_policy_of_ones_own_sees_what_slurm_refuses(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    out = run(simunix, tmp_path, "'own.py:Odd'")
    assert len(starts(out)) == len(TASKS)
    lines = [json.loads(line) for line in (out / "hosts/c/policy.out").read_text().splitlines()]
    refused = [line["refused"] for line in lines if line["refused"]]
    assert {"1": "there is no node moon"} in refused


@pytest.mark.parametrize("on_error", ["end", "go_on"])
def test_a_policy_that_raises(on_error: str, simunix: Simunix, tmp_path: Path) -> None:
    source = (
        OWN if on_error == "end" else OWN.replace("            raise", "            self.fails_at = 10**9\n            raise")
    )
    (tmp_path / "own.py").write_text(source)
    policy = f"{{name: 'own.py:Odd', options: {{fails_at: 2}}, on_error: {on_error}}}"
    out = run(simunix, tmp_path, policy, expected=0 if on_error == "go_on" else 1)
    printed = (out.parent / "run.txt").read_text()
    if on_error == "end":
        assert "own.py, line 10: KeyError: 'no such plan'" in printed, printed
    else:
        assert "line 11: KeyError" in (out / "hosts/c/policy.out").read_text() and len(starts(out)) == len(TASKS)
