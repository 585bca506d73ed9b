"""Slurm's plugins with cgroups: jobs are confined, limited, frozen, killed with their orphans, each run alike."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.roots import KeptRoot
from tests.system.runs import Run, assert_same, run

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SCENARIO = """
hosts:
  - {name: controller, cores: 4, memory: 8GiB}
  - {name: 'node[1-2]', cores: 8, memory: 16GiB}
slurm:
  controller: controller
  nodes: 'node[1-2]'
  parameters:
    ProctrackType: proctrack/cgroup
    TaskPlugin: task/cgroup,task/affinity
    JobAcctGatherType: jobacct_gather/cgroup
    JobAcctGatherFrequency: 10
    SelectTypeParameters: CR_Core_Memory
  cgroup: {ConstrainCores: true, ConstrainRAMSpace: true, ConstrainSwapSpace: true}
stop: processes
until: 30min
processes:
  - {name: user, host: controller, start: 10s, command: [sh, -c, USER]}
  - {name: look, host: node2, start: 10s, command: [sh, -c, LOOK]}
"""
HOG = """
import time
kept = []
while True:
    kept.append(bytearray(10 << 20))
    print(len(kept), flush=True)
    time.sleep(0.01)
"""
TICKS = """
import time
while True:
    print(int(time.monotonic()), flush=True)
    time.sleep(1)
"""
ORPHAN = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(1)
    os._exit(0)
os.wait()
"""
WHERE = """
cat /proc/self/cgroup
taskset -cp $$ | cut -d: -f2
folder=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)
cat $folder/../../../memory.max $folder/../../../cpuset.cpus
taskset -c 7 true 2>/dev/null || echo confined
"""
USER = f"""
srun -wnode1 -n1 -c3 --mem=100M sh -c '{WHERE}' 2>/dev/null
echo hog
srun -wnode1 -n1 --mem=200M python3 -c '{HOG}' 2>/dev/null
echo hog: $?
sbatch -wnode1 -n1 --mem=200M -o /dev/null <<'END' >/dev/null
#!/bin/sh
python3 -c '{HOG}'
END
srun -wnode2 -n1 --mem=200M python3 -c '{TICKS}' >/tmp/ticks 2>/dev/null &
sleep 5.5
scontrol show job 3 | grep -o 'JobState=[A-Z_]*'
scontrol suspend 4
sleep 20
scontrol resume 4
sleep 5
echo ticks: $(cat /tmp/ticks)
scancel 4
sleep 5
srun -wnode2 -n1 --mem=200M python3 -c '{ORPHAN}' 2>/dev/null
sleep 40
echo orphans: $(srun -wnode2 -n1 --mem=100M pgrep -fc 'os.setsi[d]' 2>/dev/null)
"""
LOOK = """
for i in $(seq 60)
do
    sleep 2
    grep -rhs frozen /sys/fs/cgroup/system.slice/*/job_4 --include=cgroup.events | sort -u | tail -n 1
done
"""


def cluster(simunix: Simunix, folder: Path, name: str, *options: object) -> Run:
    """A run of the scenario; what its jobs run stands in it."""
    scenario = folder / "s.yaml"
    scenario.write_text(SCENARIO.replace("USER", json.dumps(USER)).replace("LOOK", json.dumps(LOOK)))
    return run(simunix, scenario, folder / name, *options, timeout=300)


def check(ran: Run) -> None:
    """Each job ended as it was to."""
    told = ran.output("controller", "user")
    lines = told.split("\n")
    assert lines[0].startswith("0::/system.slice/node1_slurmstepd.scope/job_1/step_0/user/task_0"), told
    assert lines[1:5] == [" 0-2", "104857600", "0-2", "confined"], told
    hogged = told.split("hog\n")[1].split("hog: ")[0].split()
    assert 15 <= len(hogged) <= 20, told  # of 10 MiB each, before 200 MiB are too much
    assert "JobState=OUT_OF_MEMORY" in told, told
    ticks = [int(word) for word in told.split("ticks:")[1].split("orphans")[0].split()]
    assert max(after - before for before, after in itertools.pairwise(ticks)) >= 17, ticks  # after two seconds
    assert "orphans: 0" in told, told
    looked = ran.output("node2", "look").split("\n")
    assert "frozen 1" in looked and looked[0] == "frozen 0", looked


def test_jobs_are_confined_limited_frozen_and_end_with_their_orphans(simunix: Simunix, tmp_path: Path) -> None:
    """Twice, the second time on a computer that is busy: what is killed and frozen is so at the same moment."""
    first = cluster(simunix, tmp_path, "first")
    check(first)
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        again = cluster(simunix, tmp_path, "second")
    finally:
        for process in load:
            process.kill()
            process.wait()
    assert_same(first, again)
    assert any("oom_kill" in line for line in again.events)


def test_the_slurm_of_another_release(fresh_simunix: Simunix, tmp_path: Path) -> None:
    root = KeptRoot("trixie", "trixie", ("slurm-wlm", "munge", "python3")).made(fresh_simunix)
    check(cluster(fresh_simunix, tmp_path, "out", "--set", f"root={root}"))


def test_what_cannot_be_is_said_before_the_start(simunix: Simunix, tmp_path: Path) -> None:
    text = SCENARIO.replace("USER", '"true"').replace("LOOK", '"true"')
    plain = "\n".join(line for line in text.split("\n") if "/cgroup" not in line)
    (tmp_path / "s.yaml").write_text(plain.replace("JobAcctGatherFrequency: 10", "MinJobAge: 300"))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "slurm.cgroup: no plugin of slurm.conf uses cgroups; name one in slurm.parameters" in done.stderr
    (tmp_path / "s.yaml").write_text(text.replace("{ConstrainCores", "{CgroupPlugin: cgroup/v1, ConstrainCores"))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2 and "slurm.cgroup.CgroupPlugin: cgroup/v1: hosts have cgroups of version 2" in done.stderr


def test_a_site_with_cgroups_of_version_1_is_told_before_the_start(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(SITE)
    (tmp_path / "cgroup.conf").write_text(f"{SITE_CGROUPS}CgroupPlugin=cgroup/v1\n")
    hosts = "[{name: head, address: 10.20.0.1}, {name: 'cpu[1-2]', cores: 8, sockets: 2, memory: 80GiB}]"
    (tmp_path / "s.yaml").write_text(f"hosts: {hosts}\nslurm: {{controller: head, nodes: 'cpu[1-2]', config: slurm.conf}}\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2, done.stderr
    assert (
        "cgroup.conf:9: CgroupPlugin=cgroup/v1: hosts have cgroups of version 2; write cgroup/v2, or leave it out"
        in done.stderr
    )
    assert "Traceback" not in done.stderr


SITE = """
ClusterName=hydra
SlurmctldHost=head(10.20.0.1)
SlurmUser=slurm
ProctrackType=proctrack/cgroup
TaskPlugin=task/affinity,task/cgroup
PrologFlags=Contain,X11
JobAcctGatherType=jobacct_gather/cgroup
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=cpu[1-2] NodeAddr=10.20.1.[1-2] Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=64000
PartitionName=cpu Nodes=cpu[1-2] Default=YES MaxTime=2-00:00:00 State=UP
"""
SITE_CGROUPS = """
CgroupAutomount=yes
CgroupMountpoint=/sys/fs/cgroup
ConstrainCores=yes
ConstrainDevices=yes
ConstrainRAMSpace=yes
ConstrainSwapSpace=yes
AllowedSwapSpace=0
"""
SITE_JOB = """
processes:
  - {name: user, host: head, start: 10s, command: "srun -wcpu2 -n1 -c2 --mem=100M cat /proc/self/cgroup"}
stop: processes
until: 10min
"""


def test_an_imported_site_keeps_its_plugins(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(SITE)
    (tmp_path / "cgroup.conf").write_text(SITE_CGROUPS)
    done = simunix("slurm", "import", tmp_path / "slurm.conf", "-o", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    scenario = tmp_path / "site/scenario.yaml"
    scenario.write_text(scenario.read_text() + SITE_JOB)
    ran = run(simunix, scenario, tmp_path / "out", timeout=100)
    assert ran.output("head", "user") == "0::/system.slice/cpu2_slurmstepd.scope/job_1/step_0/user/task_0\n"
