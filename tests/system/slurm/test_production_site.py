"""A site as in production (cgroups, GPUs and shards bound to NUMA nodes, QOS, a database) is imported and runs as it is."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT, Simunix
from tests.system.needs import with_database
from tests.system.runs import Run, run_twice

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SITE = ROOT / "tests/sites/production"
NAMES = (
    "SlurmctldHost=",
    "SlurmUser=",
    "SlurmdLogFile=",
    "AccountingStorageHost=",
    "NodeAddr=",
    "Cluster aurora: ",
    "User root: ",
    "reservations: ",
    "fair-share: ",
)
"""What is said of names, addresses, paths and what was not given."""
CHANGED = {
    "MpiDefault=pmix": "none: jobs sleep",
    "RebootProgram=/usr/sbin/reboot": "left out: scripts of the site are not run",
    "AutoDetect=nvml": "left out: there are no GPUs; devices that do nothing stand for them",
}
"""What else is not as it was: nothing of it says how jobs are run."""

SEES = """
echo $SLURM_PROCID cuda=$CUDA_VISIBLE_DEVICES cpus=$(taskset -cp $$ | sed 's/.*: //') nproc=$(nproc) \\
    opens=$(for n in 0 1 2 3; do (exec 3<>/dev/nvidia$n) 2>/dev/null && printf $n; done)
"""
HOG = """
kept = []
while True:
    kept.append(bytearray(10 << 20))
    print(len(kept), flush=True)
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
STEPS = {
    "-p gpu -wg01 --gres=gpu:1 -c2": ["0 cuda=0 cpus=0,1 nproc=2 opens=0"],
    "-p gpu -wg01 -n2 --gpus-per-task=1": ["0 cuda=0 cpus=0 nproc=1 opens=0", "1 cuda=0 cpus=1 nproc=1 opens=1"],
    "-p gpu -wg02 -n2 --gres=gpu:a100:4 --gpu-bind=single:1": [
        "0 cuda=0 cpus=0 nproc=1 opens=0",
        "1 cuda=0 cpus=1 nproc=1 opens=1",
    ],
    "-p gpu -wg02 -n2 -c1 --gres=gpu:4 --gpu-bind=closest --ntasks-per-socket=1": [
        "0 cuda=0,1 cpus=0 nproc=1 opens=01",
        "1 cuda=0,1 cpus=8 nproc=1 opens=23",
    ],
    "-p interactive --gres=shard:v100:2": ["0 cuda=0 cpus=0 nproc=1 opens=0"],
    "-p batch -n1 -c3": ["0 cuda= cpus=0-2 nproc=3 opens="],
}
"""What the tasks of each step say: their GPUs, their cores, and which GPUs they can open (cgroups count devices anew)."""
SCRIPT = """
sinfo -Nho '%N %t %G %c' | sort -u
STEPS
echo '== killed'
job=$(sbatch --parsable -p batch --mem=200M -o /dev/null --wrap 'python3 -c "$HOG"')
sleep 20; sacct -nXP -j $job -o State
echo '== orphans'
srun -p batch -wc004 -n1 sh -c 'python3 -c "$ORPHAN" orphan; pgrep -fc "[o]rphan$"'
srun -p batch -wc004 -n1 sh -c 'pgrep -fc "[o]rphan$"'
echo '== grouped'
srun -p batch -wc003 -n1 sh -c 'cat /proc/self/cgroup; ls -d /sys/fs/cgroup/system.slice/c003_slurmstepd.scope/job_*/step_*'
echo '== suspended'
srun -p batch -wc003 -J ticks -n1 --mem=500M timeout 40 python3 -c "$TICKS" || true
"""
SUSPENDS = """
while ! job=$(squeue -hn ticks -t R -o %A | grep .); do sleep 1; done
sleep 5; scontrol suspend $job; sleep 20; squeue -hj $job -o %T; scontrol resume $job
"""


def scenario(simunix: Simunix, folder: Path) -> Path:
    """The scenario of the imported site, with a user and an administrator."""
    words = ["--accounts", SITE / "accounts.cfg", "--qos", SITE / "qos.txt", "--sacct", SITE / "jobs.txt"]
    done = simunix("slurm", "import", SITE / "slurm.conf", *words, "--output", folder / "site")
    assert done.returncode == 0, done.stderr
    changes = [line.removeprefix(f"{SITE}/") for line in (folder / "site/changes.txt").read_text().splitlines()]
    others = [re.sub(r"^\S+: ", "", line, count=1) for line in changes if not any(name in line for name in NAMES)]
    assert dict(other.split(": ", 1) for other in others) == CHANGED
    texts = {"SEES": SEES, "HOG": HOG, "TICKS": TICKS, "ORPHAN": ORPHAN}
    exports = "".join(f"export {name}={shlex.quote(text)}\n" for name, text in texts.items())
    steps = "\n".join(f"echo '== {step}'; srun {step} bash -c \"$SEES\" | sort" for step in STEPS)
    path = folder / "site/scenario.yaml"
    plan = yaml.safe_load(path.read_text())
    user = {
        "name": "user",
        "user": "ada",
        "directory": "/tmp",
        "command": ["bash", "-c", exports + SCRIPT.replace("STEPS", steps)],
    }
    administrator = {"name": "administrator", "command": ["bash", "-c", SUSPENDS]}
    plan["processes"] += [{"host": "mgmt1", "start": "40s", **process} for process in (user, administrator)]
    path.write_text(yaml.safe_dump(plan | {"stop": "time", "until": "4min"}))
    return path


def check(ran: Run) -> None:
    """What the site's users see is what they see at the site."""
    told = ran.output("mgmt1", "user")
    found = {part.split("\n")[0]: part.split("\n")[1:-1] for part in told.split("== ")[1:]}
    nodes = [f"c00{number} idle (null) 16" for number in range(1, 5)]
    nodes += [f"g0{number} idle gpu:a100:4(S:0-1) 16" for number in (1, 2)]
    nodes += ["v01 idle gpu:v100:2(S:0-1),shard:v100:16(S:0-1) 16"]
    assert told.split("== ")[0].split("\n")[:-1] == nodes
    assert {step: found[step] for step in STEPS} == STEPS
    assert (found["killed"], found["orphans"]) == (["OUT_OF_MEMORY"], ["1", "0"])
    scope = "/system.slice/c003_slurmstepd.scope/job_"
    assert re.fullmatch(rf"0::{scope}\d+/step_0/user/task_0", found["grouped"][0])
    assert [re.sub(r".*/", "", step) for step in found["grouped"][1:]] == ["step_0", "step_extern"]
    ticks = [int(word) for word in found["suspended"]]
    assert max(after - before for before, after in itertools.pairwise(ticks)) >= 19, ticks
    assert ran.output("mgmt1", "administrator") == "SUSPENDED\n"
    assert [row["final_state"] for row in ran.rows] == ["COMPLETED", "COMPLETED"]
    assert ran.rows[0]["allocated_hosts"] == "g01"


@with_database
def test_it_runs_as_it_is(simunix: Simunix, tmp_path: Path) -> None:
    """Twice, with the same event log."""
    check(run_twice(simunix, scenario(simunix, tmp_path), tmp_path)[0])
