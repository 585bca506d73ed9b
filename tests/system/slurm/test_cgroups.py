"""Slurm's plugins with cgroups: jobs are confined, limited, frozen, killed with their orphans, and in each run at one moment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix

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
shared: [FOLDER]
stop: processes
until: 30min
processes:
  - {name: user, host: controller, start: 10s, command: "sh FOLDER/user.sh"}
  - {name: look, host: node2, start: 10s, command: "sh FOLDER/look.sh"}
"""
LOOK = """
for i in $(seq 60)
do
    sleep 2
    grep -h frozen /sys/fs/cgroup/system.slice/*/job_4/step_batch/user/cgroup.events 2>/dev/null
done
exit 0
"""
USER = """
cd FOLDER
srun -wnode1 -n1 -c3 --mem=100M sh where.sh
echo hog
srun -wnode1 -n1 --mem=200M python3 hog.py
echo hog: $?
sbatch -wnode1 -n1 --mem=200M -o FOLDER/batch.out --wrap 'python3 FOLDER/hog.py' >/dev/null
sbatch -wnode2 -n1 --mem=200M -o FOLDER/ticks.out --wrap 'python3 FOLDER/ticks.py' >/dev/null
sleep 5.5
scontrol show job 3 | grep -o 'JobState=[A-Z_]*'
scontrol suspend 4
sleep 20
scontrol resume 4
sleep 5
echo ticks: $(cat FOLDER/ticks.out)
scancel 4
sleep 5
srun -wnode2 -n1 --mem=200M python3 daemon.py
sleep 40
echo orphans: $(srun -wnode2 -n1 --mem=100M pgrep -fc '[d]aemon.py')
"""
WHERE = """
cat /proc/self/cgroup
taskset -cp $$ | cut -d: -f2
folder=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)
cat $folder/../../../memory.max $folder/../../../cpuset.cpus
taskset -c 7 true || echo confined
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
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(1)
    os._exit(0)
os.wait()
"""


def written(folder: Path, scenario: str = SCENARIO) -> Path:
    """The scenario with what its jobs run, in a folder that all hosts share."""
    for name, text in {"user.sh": USER, "where.sh": WHERE, "look.sh": LOOK, "hog.py": HOG, "ticks.py": TICKS, "daemon.py": DAEMON}.items():
        (folder / name).write_text(text.replace("FOLDER", str(folder)))
    (folder / "s.yaml").write_text(scenario.replace("FOLDER", str(folder)))
    return folder / "s.yaml"


def digest(out: Path) -> str:
    """Of the event log."""
    return str(json.loads((out / "run.json").read_text())["events_sha256"])


def test_jobs_are_confined_limited_frozen_and_end_with_their_orphans(simunix: Simunix, tmp_path: Path) -> None:
    scenario = written(tmp_path)
    done = simunix("run", scenario, "--out", tmp_path / "out", timeout=300)
    assert done.returncode == 0, done.stderr
    told = (tmp_path / "out/hosts/controller/user.out").read_text()
    assert told.startswith("0::/system.slice/node1_slurmstepd.scope/job_1/step_0/user/task_0\n 0-2\n104857600\n0-2\n")
    assert "confined" in told
    hogged = told.split("hog\n")[1].split("hog: ")[0].split()
    assert 15 <= len(hogged) <= 20, told  # of 10 MiB each, before 200 MiB are too much
    assert "JobState=OUT_OF_MEMORY" in told, told
    ticks = [int(word) for word in told.split("ticks:")[1].split("orphans")[0].split()]
    assert max(after - before for before, after in zip(ticks, ticks[1:], strict=False)) >= 17, ticks  # after two seconds
    assert "orphans: 0" in told
    looked = (tmp_path / "out/hosts/node2/look.out").read_text().split("\n")
    assert "frozen 1" in looked and looked[0] == "frozen 0", looked


def test_a_limit_and_a_freeze_take_effect_at_one_moment_in_each_run(simunix: Simunix, tmp_path: Path) -> None:
    scenario = written(tmp_path)
    done = simunix("run", scenario, "--out", tmp_path / "first", timeout=300)
    assert done.returncode == 0, done.stderr
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        again = simunix("run", scenario, "--out", tmp_path / "second", timeout=600)
    finally:
        for process in load:
            process.kill()
            process.wait()
    assert again.returncode == 0, again.stderr
    assert digest(tmp_path / "first") == digest(tmp_path / "second")
    assert "oom_kill" in (tmp_path / "second/events.jsonl").read_text()
