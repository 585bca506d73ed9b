"""Workloads submitted as their users did: real sbatch and srun under their own accounts, one job after another, in arrays."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.system.needs import with_database

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

TRACE = """
; UnixStartTime: 0
1 0 0 100 4 -1 -1 4 200 -1 1 1 1 -1 1 1 -1 -1
2 0 0 50 64 -1 -1 64 60 -1 1 2 1 -1 1 1 -1 -1
3 5 0 10 1 -1 -1 1 60 -1 1 1 2 -1 2 1 1 30
4 5 0 10 65 -1 -1 65 60 -1 1 3 2 -1 1 1 3 7
5 6 0 20 2 -1 -1 2 60 -1 1 3 2 -1 1 1 4 7
6 7 0 20 2 -1 -1 2 60 -1 1 -1 -1 -1 1 1 99 7
7 8 0 20 2 -1 -1 2 60 -1 1 3 2 -1 1 1 -1 -1
8 8 0 20 2 -1 -1 2 60 -1 1 3 2 -1 1 1 -1 -1
9 8 0 20 2 -1 -1 2 60 -1 1 3 2 -1 1 1 -1 -1
10 400 0 5 2 -1 -1 2 60 -1 1 1 2 -1 1 1 -1 -1
"""
SCENARIO = """
name: submitters
hosts:
  - {name: ctl, cores: 4, memory: 8GiB}
  - {name: 'n[1-4]', cores: 16, sockets: 2, memory: 64GiB}
slurm:
  controller: ctl
  nodes: 'n[1-4]'
  extra: "PartitionName=debug Nodes=n1 State=UP\\n"
  MORE
workload:
  trace: t.swf
"""


@pytest.fixture
def as_root() -> None:
    """Skips a test of users where users cannot be changed."""
    if os.geteuid() != 0:
        pytest.skip("only root can have users on the emulated hosts")


class Result:
    """What a run of the trace has left."""

    def __init__(self, out: Path) -> None:
        files = out / "hosts/ctl/files"
        with (files / "var_spool_simunix/submissions.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.submitted = {int(row["id"]): float(row["submitted_s"]) for row in rows if row["exit_code"] in ("", "0")}
        self.numbers = {int(row["id"]): row["job_number"] for row in rows}
        with (out / "jobs.csv").open() as file:
            self.jobs = {int(row["job_id"]): row for row in csv.DictReader(file)}
        self.states = {number: row["final_state"] for number, row in self.jobs.items()}
        lines = (files / "var_log_slurm/jobcomp.log").read_text().splitlines()
        words = [dict(re.findall(r"(\w+)=(\S+)", line)) for line in lines]
        self.recorded = {int(word["Name"].removeprefix("swf-")): word for word in words}
        self.digest = json.loads((out / "run.json").read_text())["events_sha256"]
        self.plan = json.loads((files / "var_spool_simunix/plan.json").read_text())

    def finished(self, number: int) -> float:
        return float(self.jobs[number]["finish_time"]) - 10  # submission begins at 10 s


def play(simunix: Simunix, tmp_path: Path, keys: str, more: str = "", out: str = "out") -> Result:
    (tmp_path / "t.swf").write_text(TRACE)
    lines = "".join(f"  {line.strip()}\n" for line in keys.strip().splitlines())
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("  MORE\n", more) + lines)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / out, timeout=200)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / out / "hosts/ctl/workload.err").read_text() == ""
    return Result(tmp_path / out)


@pytest.mark.usefixtures("as_root")
def test_users_think_times_arrays_holds_and_partitions_twice(fresh_simunix: Simunix, tmp_path: Path) -> None:
    keys = """
    users: trace
    accounts: trace
    dependencies: think_time
    arrays: bursts
    queues: {2: debug}
    options: [{jobs: 5, hold: 40s}, {users: 3, nice: 5}]
    """
    result = play(fresh_simunix, tmp_path, keys)
    assert {number for number, state in result.states.items() if state == "COMPLETED"} == {1, 2, 3, 5, 6, 7, 8, 9, 10}
    assert result.states[4] == "REJECTED"
    # 30 s after the end of job 1, as Slurm tells it; 7 s after job 4 was refused; at its own moment without a preceding job.
    assert result.submitted[3] == pytest.approx(result.finished(1) + 30, abs=0.01)
    assert 7 <= result.submitted[5] - result.finished(3) - 7 < 7.1
    assert result.submitted[6] == pytest.approx(7, abs=0.01)
    # Each as its own user, in the group of its job's account; who is unknown as root.
    users = {number: (word["UserId"], word["GroupId"], word.get("Account")) for number, word in result.recorded.items()}
    assert users[1] == ("user1(100000)", "group1(100000)", "group1")
    assert users[3] == ("user1(100000)", "group1(100000)", "group2")
    assert users[7] == ("user3(100002)", "group2(100001)", "group2")
    assert users[6][0] == "root(0)"
    assert [(result.jobs[number]["user"], result.jobs[number]["account"]) for number in (1, 3, 7)] == [
        ("user1", "group1"),
        ("user1", "group2"),
        ("user3", "group2"),
    ]
    assert (result.jobs[6]["user"], result.jobs[4]["user"]) == ("root", ""), "Slurm has no record of the job that it refused"
    assert result.recorded[3]["Partition"] == "debug" and result.recorded[1]["Partition"] == "batch"
    # Held for 40 s; three equal jobs are one array.
    assert 39.9 <= float(result.jobs[5]["waiting_time"]) < 45
    array = result.numbers[7].removesuffix("_0")
    assert [result.numbers[number] for number in (7, 8, 9)] == [f"{array}_{index}" for index in range(3)]
    assert play(fresh_simunix, tmp_path, keys, out="again").digest == result.digest


def test_slurms_own_dependencies(simunix: Simunix, tmp_path: Path) -> None:
    result = play(simunix, tmp_path, "dependencies: rjms")
    assert result.submitted[3] == pytest.approx(5, abs=0.01)
    assert float(result.jobs[3]["starting_time"]) >= float(result.jobs[1]["finish_time"])
    assert float(result.jobs[5]["waiting_time"]) < 60  # what it would have waited for was refused


def test_users_wait_for_their_results(simunix: Simunix, tmp_path: Path) -> None:
    """In the trace job 10 came 300 s after its user's jobs 1 and 3 had ended; here job 3 has to wait for job 2's nodes."""
    result = play(simunix, tmp_path, "feedback: session")
    last = max(result.finished(1), result.finished(3))
    assert result.submitted[10] == pytest.approx(last + 300, abs=0.01)
    assert all(result.submitted[number] < 9 for number in (1, 2, 3, 5, 6, 7, 8, 9))
    apart = play(simunix, tmp_path, "feedback: session\nsession_gap: 2min")
    assert apart.submitted[10] == pytest.approx(400, abs=0.01)


@pytest.mark.usefixtures("as_root")
def test_srun_stays_until_the_job_has_ended(fresh_simunix: Simunix, tmp_path: Path) -> None:
    keys = "client: srun\nusers: trace\ndependencies: think_time"
    result = play(fresh_simunix, tmp_path, keys)
    assert result.states[4] == "REJECTED" and set(result.states.values()) == {"COMPLETED", "REJECTED"}
    assert 0 <= result.submitted[3] - result.finished(1) - 30 < 1.1  # srun itself knows to less than a second
    assert result.recorded[3]["UserId"] == "user1(100000)"
    assert "More processors requested" in result.jobs[4]["metadata"]
    assert play(fresh_simunix, tmp_path, keys, out="again").digest == result.digest


@pytest.mark.usefixtures("as_root")
@with_database
def test_associations_are_there_before_the_first_job(simunix: Simunix, tmp_path: Path) -> None:
    more = "  accounting_storage_type: slurmdbd\n  accounting_storage_enforce: 'associations,limits,qos'\n"
    more += "  sacctmgr: [add qos high Priority=1000]\n"
    keys = "users: trace\naccounts: trace\noptions: [{jobs: '5-6', qos: high}]"
    result = play(simunix, tmp_path, keys, more)
    assert {number for number, state in result.states.items() if state != "COMPLETED"} == {4}
    found = {number: (word["Account"], word["QOS"]) for number, word in result.recorded.items()}
    assert (found[1], found[3], found[5]) == (("group1", "normal"), ("group2", "normal"), ("group2", "high"))
    assert found[6] == ("root", "high")
    assert result.submitted[1] < 0.01


def test_without_root_it_is_said_what_is_given_up(tmp_path: Path) -> None:
    """In a user namespace, where this user is not root."""
    aside = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    if shutil.which("unshare") is None or subprocess.run([*aside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("user namespaces cannot be had here")
    (tmp_path / "t.swf").write_text(TRACE)
    keys = "  users: trace\n  accounts: trace\n  dependencies: think_time\n  queues: {2: debug}\n"
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("  MORE\n", "") + keys)
    command = [sys.executable, "-m", "simunix.cli.main", "run", str(tmp_path / "s.yaml"), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*aside, *command], capture_output=True, text=True, timeout=200, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    words = "workload.users: without root every user of a host is you: all jobs are submitted by one user; "
    assert words + "accounts are those of the trace" in done.stderr
    result = Result(tmp_path / "out")
    assert {word["UserId"] for word in result.recorded.values()} == {"root(0)"}
    assert result.recorded[3]["Account"] == "group2"
    assert result.submitted[3] == pytest.approx(result.finished(1) + 30, abs=0.01)


def test_two_workloads_share_their_users_but_not_srun(tmp_path: Path) -> None:
    from rsg_server.errors import SimunixError
    from simunix.planning.expand import expand
    from simunix.rjms.scenario import load

    (tmp_path / "t.swf").write_text(TRACE)
    first = SCENARIO.replace("  MORE\n", "").replace("workload:\n  trace: t.swf\n", "")
    second = "workload:\n  - {trace: t.swf, users: trace, max_jobs: 2}\n"
    second += "  - {trace: t.swf, host: n1, begin: 5s, users: trace, CLIENT}\n"
    (tmp_path / "s.yaml").write_text(first + second.replace("CLIENT", "client: srun"))
    with pytest.raises(
        SimunixError, match=r"workload\[1\]\.client: srun prints no job number, and workload\[0\] has jobs of the same"
    ):
        expand(load(tmp_path / "s.yaml"), tmp_path)
    (tmp_path / "s.yaml").write_text(first + second.replace("CLIENT", "client: sbatch"))
    plan = expand(load(tmp_path / "s.yaml"), tmp_path).plan
    if os.geteuid() == 0:
        plans = [json.loads(file.content)["users"] for file in plan.files if file.path.endswith("plan.json")]
        assert plans[0] == plans[1] and [user["name"] for user in plans[0]] == ["user1", "user2", "user3"]
        assert all("user3:x:100002:" in host.etc["passwd"].decode() for host in plan.hosts)
