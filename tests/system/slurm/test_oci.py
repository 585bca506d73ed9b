"""`srun --container`: Slurm has crun run steps in containers from an unpacked image (oci.conf), and ends them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs, needs_root
from tests.system.images import bundle

pytestmark = [pytest.mark.slurm, pytest.mark.slow, needs("crun", "busybox"), needs_root("crun makes containers as root here")]

CRUN = "crun --cgroup-manager=disabled --root=/run/oci"
OCI = f"""
RunTimeQuery="{CRUN} state %n.%u.%j.%s.%t"
RunTimeKill="{CRUN} kill -a %n.%u.%j.%s.%t KILL"
RunTimeDelete="{CRUN} delete --force %n.%u.%j.%s.%t"
RunTimeRun="{CRUN} run --bundle %b %n.%u.%j.%s.%t"
"""
SLURM = """
ClusterName=oci
SlurmctldHost=controller
AuthType=auth/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdSpoolDir=/var/spool/slurmd
StateSaveLocation=/var/spool/slurmctld
NodeName=node[1-2] CPUs=4 RealMemory=2000
PartitionName=batch Nodes=node[1-2] Default=YES MaxTime=60 State=UP
"""
USER = """
cd FOLDER
srun -wnode1 -n1 --container=FOLDER/bundle sh -c 'ps -o pid,comm; hostname; grep NSpid /proc/self/status'
srun -wnode1 -n1 --container=FOLDER/bundle sh -c 'exit 5' 2>/dev/null
echo status $?
srun -N2 -n2 --container=FOLDER/bundle sh -c 'sleep 10; echo slept'
sleep 20
sbatch -wnode1 --mem=100 --container=FOLDER/bundle -o FOLDER/batch.out --wrap 'echo in batch; sleep 900' >/dev/null
sleep 20
echo running $(srun --mem=100 -wnode1 sh -c 'ls /run/oci')
scancel 4
sleep 60
echo left $(srun --mem=100 -wnode1 sh -c 'ls /run/oci')
sleep 5
sinfo -h -o '%D %t'
"""
SCENARIO = """
hosts:
  - {name: controller, cores: 4, memory: 8GiB}
  - {name: 'node[1-2]', cores: 4, memory: 4GiB}
slurm: {controller: controller, nodes: 'node[1-2]', config: slurm.conf}
shared: [FOLDER]
stop: processes
until: 10min
processes:
  - {name: user, host: controller, start: 10s, command: "sh FOLDER/user.sh"}
"""


def run(simunix: Simunix, folder: Path, out: Path) -> tuple[str, str]:
    """A run with a fresh image, in which crun leaves places for mounts: what the user saw, the digest of the event log."""
    shutil.rmtree(folder / "bundle", ignore_errors=True)
    (folder / "batch.out").unlink(missing_ok=True)
    bundle(folder / "bundle", "echo no command")
    done = simunix("run", folder / "s.yaml", "--out", out, timeout=200)
    assert done.returncode == 0, done.stderr
    record = json.loads((out / "run.json").read_text())
    assert record["deterministic"], done.stderr
    return (out / "hosts/controller/user.out").read_text(), record["events_sha256"]


def test_steps_run_in_containers(simunix: Simunix, tmp_path: Path) -> None:
    for name, text in {"oci.conf": OCI, "slurm.conf": SLURM, "user.sh": USER, "s.yaml": SCENARIO}.items():
        (tmp_path / name).write_text(text.replace("FOLDER", str(tmp_path)))
    told, digest = run(simunix, tmp_path, tmp_path / "first")
    assert told.startswith("PID   COMMAND\n    1 sh\n    2 ps\ncrun\nNSpid:\t1\nstatus 5\nslept\nslept\n"), told
    assert "running node1.root.4." in told and "left\n2 idle\n" in told, told
    assert (tmp_path / "batch.out").read_text().startswith("in batch\n")
    assert run(simunix, tmp_path, tmp_path / "second") == (told, digest)
