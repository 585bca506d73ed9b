"""A job table through the real sbatch: dependencies, arrays, heterogeneous jobs, ends, holds, run times by features."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.conftest import Simunix

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

COLUMNS = (
    "JobID,User,Account,Submit,ElapsedRaw,Timelimit,ReqCPUS,Constraints,Dependency,ExitCode,State,CancelAfter,Hold,Steps,Array"
)
JOBS = """
1,alice,physics,0,600,00:20:00,4,,,,,,,,
2_1,bob,chem,5,60,00:05:00,1,fast,,,,,,,%1
2_7,bob,chem,5,90,00:05:00,1,fast,,,,,,,%1
3,alice,physics,10,30,00:02:00,8,,afterok:1,,,,,,
4,bob,chem,12,20,00:02:00,1,,afterany:2_7,3:0,,,,,
5,bob,chem,13,20,00:02:00,1,,,,TIMEOUT,,,,
6,bob,chem,13,20,00:02:00,1,,,,CANCELLED by 5,,,,
7,bob,chem,14,,00:02:00,16,,,,CANCELLED,30,,,
8+0,carol,chem,15,25,00:02:00,2,,,,,,,,
8+1,carol,chem,15,25,00:02:00,1,,,,,,,,
9,carol,chem,16,20,00:02:00,1,,,0:9,FAILED,,,,
10,carol,chem,17,20,00:02:00,1,fast,afterok:99:1,,,,60,,
11,carol,chem,18,40,00:02:00,2,slow,,,,,,0+10x2 15+10x1,
12,carol,chem,18,60,1:30,1,slow,,,,,,,
13,carol,chem,19,60,1:30,1,no,,,,,,,
"""
SCENARIO = """
hosts:
  - {name: controller, cores: 4, memory: 8GiB}
  - {name: 'node[1-2]', cores: 8, memory: 16GiB}
slurm: {controller: controller, nodes: 'node[1-2]', config: slurm.conf}
workload: {trace: jobs.csv, users: trace, factors: {slow: 2, fast: 1}}
stop: workload
until: 2h
"""
CONF = """
ClusterName=simunix
SlurmctldHost=controller
SlurmUser=root
SlurmdUser=root
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobCompType=jobcomp/filetxt
JobCompLoc=/var/log/slurm/jobcomp.log
NodeName=node1 CPUs=8 RealMemory=15000 Feature=fast
NodeName=node2 CPUs=8 RealMemory=15000 Feature=slow
PartitionName=batch Nodes=node[1-2] Default=YES MaxTime=INFINITE State=UP
"""


def test_every_job_ends_as_its_row_says(simunix: Simunix, tmp_path: Path) -> None:
    for name, text in (("jobs.csv", COLUMNS + JOBS), ("s.yaml", SCENARIO), ("slurm.conf", CONF)):
        (tmp_path / name).write_text(text)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=200)
    assert done.returncode == 0, done.stderr
    rows = {int(row["job_id"]): row for row in csv.DictReader((tmp_path / "out/jobs.csv").read_text().splitlines())}
    states = [row["final_state"] for row in rows.values()]
    completed, failed = "COMPLETED", "FAILED"
    assert states == [
        *(completed, completed, completed, completed, failed, "TIMEOUT", "CANCELLED", "CANCELLED"),
        *(completed, completed, failed, completed, completed, "TIMEOUT", "REJECTED"),
    ]

    def times(number: int) -> tuple[float, float, float]:
        return tuple(float(rows[number][name]) for name in ("starting_time", "execution_time", "finish_time"))  # type: ignore[return-value]

    assert times(1)[1] == 600
    assert [rows[number]["metadata"] for number in (2, 3)] == ["2_1", "2_7"]
    assert (times(2)[1], times(3)[1]) == (60, 90)
    assert 0 <= times(3)[0] - times(2)[2] <= 5  # one element at a time
    assert 0 <= times(4)[0] - times(1)[2] <= 5
    assert 0 <= times(5)[0] - times(3)[2] <= 5
    assert rows[8]["starting_time"] == "" and times(9)[0] == times(10)[0]
    assert times(9)[1] == (50 if "node2" in (rows[9]["allocated_hosts"], rows[10]["allocated_hosts"]) else 25)
    assert times(12)[0] - 10 >= 17 + 60 and times(12)[0] >= times(1)[2]  # released after a minute, and behind job 1
    assert rows[12]["metadata"] == "depends on 99, not submitted: left out"
    assert (times(13)[1], rows[13]["allocated_hosts"]) == (80, "node2")
    assert float(rows[14]["requested_time"]) == 120  # 1:30, of which Slurm counts begun minutes
    assert "Invalid feature" in rows[15]["metadata"]
    assert {row["user"] for row in rows.values()} - {""} == {"alice", "bob", "carol"}
