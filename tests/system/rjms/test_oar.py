"""Real OAR in a root file system of its own: a workload through oarsub, its own commands, the same twice.

The root is that of SIMUNIX_ROOTS (see tests/roots.py), and is made if need be: downloads 130 MB.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.roots import KeptRoot
from tests.system.rjms.workloads import SwfJob, user_commands, write_workload
from tests.system.runs import run, run_twice

pytestmark = pytest.mark.slow
PACKAGES = ("oar-server", "oar-server-pgsql", "oar-node", "oar-user", "oar-user-pgsql", "postgresql", "taktuk", "python3")
OAR = KeptRoot("oar", "bookworm", PACKAGES)
SCENARIO = """
name: oar
seed: 1
hosts: [{{name: 'm,l', cores: 4, memory: 8GiB}}, {{name: 'n[1-4]', cores: 4, memory: 8GiB}}]
root: {root}
oar: {{controller: m, login: l, nodes: 'n[1-4]'}}
workload: {{trace: small.swf, start: 20s{workload}}}
"""
REBOOTS = """
events:
  - {at: 30s, host: n1, state: reboot, duration: 10s}
  - {at: 50s, host: m, state: off, duration: 20s}
"""
JOBS = (
    SwfJob(1, 0, 60, 1, 100),
    SwfJob(2, 1, 60, 4, 100),
    SwfJob(3, 2, 30, 10, 100),
    SwfJob(4, 3, 300, 2, 60),
    SwfJob(5, 4, 20, 16, 100),
    SwfJob(6, 4, 20, 1, 100),
    SwfJob(7, 4, 20, 1, 100),
)
COMMANDS = """
sleep 15; oarproperty -l | sort | tr '\\n' ' '; echo
oarsub -d /tmp -l /host=2 -O /dev/null -E /dev/null 'oarsh n2 hostname | logger; exit 3'
oarsub -d /tmp -a 1 -O /dev/null -E /dev/null 'sleep 1000'
oarsub -d /tmp --hold -O /dev/null -E /dev/null 'sleep 1000'
oarsub -d /tmp -l walltime=0:1:0 -O /dev/null -E /dev/null 'sleep 1000'
sleep 30; oarnodes -s; oarstat; oardel 2 3; sleep 40
for each in 1 2 3; do oarstat -f -j $each | grep -E '^ *(state|exit_code|assigned_hostnames) ='; done
"""


@pytest.fixture(scope="module")
def root(simunix: Simunix) -> Path:
    return OAR.made(simunix)


def write(tmp_path: Path, root: Path, workload: str = "", rest: str = "") -> Path:
    return write_workload(tmp_path, JOBS, SCENARIO.format(root=root, workload=workload) + rest)


def test_a_workload_through_oarsub_twice_the_same(fresh_simunix: Simunix, tmp_path: Path, root: Path) -> None:
    scenario = write(tmp_path, root)
    ran, _ = run_twice(fresh_simunix, scenario, tmp_path, timeout=400)
    assert (ran.record["rjms"], ran.record["deterministic"]) == ("oar 2.5.9", True)
    rows = ran.jobs
    assert {row["final_state"] for number, row in rows.items() if number != 4} == {"COMPLETED"}
    assert (rows[4]["final_state"], float(rows[4]["execution_time"])) == ("TIMEOUT", pytest.approx(125, abs=10))
    times = [float(rows[number]["execution_time"]) for number in (1, 2, 3, 5, 6)]
    assert times == pytest.approx([60, 60, 30, 20, 20], abs=1)  # OAR dates a start up to a second ahead
    assert [len(rows[number]["allocated_hosts"].split(",")) for number in (1, 5)] == [1, 4]
    assert [int(rows[number]["allocated_cores"]) for number in (1, 2, 3, 4, 5)] == [1, 4, 10, 2, 16]


@pytest.mark.endurance
def test_its_users_commands_answer(simunix: Simunix, tmp_path: Path, root: Path) -> None:
    scenario = write(tmp_path, root, ", max_jobs: 1", rest=user_commands(COMMANDS))
    ran = run(simunix, scenario, tmp_path / "out", "--set", "workload.start=20min")
    out = ran.output("l", "user")
    assert "core cpu cpuset drain host last_available_upto" in out and "OAR_JOB_ID=4" in out
    assert all(f"n{node}\n" in out for node in range(1, 5)) and out.count(" : Alive") == 16
    assert "3         H root " in out and "Deleting the job = 2 ...REGISTERED." in out
    assert "exit_code = 768 (3,0,0)" in out and out.count("state = Error") == 2
    records = ran.file("m", "var_log_oar/jobs.csv").splitlines()
    assert records.pop() == "# all jobs"
    assert [row["state"] for row in csv.DictReader(records)] == ["Terminated", "Error", "Error", "Running"]


@pytest.mark.endurance
def test_equal_jobs_are_elements_of_an_array(simunix: Simunix, tmp_path: Path, root: Path) -> None:
    ran = run(simunix, write(tmp_path, root, ", arrays: bursts"), tmp_path / "out", timeout=400)
    numbers = ran.job_numbers("l")
    assert (numbers[6], numbers[7]) == ("6_1", "6_2")
    rows = ran.jobs
    assert [rows[number]["final_state"] for number in (6, 7)] == ["COMPLETED", "COMPLETED"]
    assert [float(rows[number]["execution_time"]) for number in (6, 7)] == pytest.approx([20, 20], abs=1)


@pytest.mark.endurance
def test_a_node_and_the_controller_lose_their_power(simunix: Simunix, tmp_path: Path, root: Path) -> None:
    scenario = write(tmp_path, root, ", max_jobs: 5", rest=REBOOTS)
    ran = run(simunix, scenario, tmp_path / "out", timeout=600)
    states = {number: row["final_state"] for number, row in ran.jobs.items()}
    assert states == {1: "NODE_FAIL", 2: "COMPLETED", 3: "COMPLETED", 4: "TIMEOUT", 5: "COMPLETED"}
