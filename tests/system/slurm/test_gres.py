"""Generic resources of real daemons: GPUs by type, bound to tasks and cores, MPS, shards, NICs; what each step is told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.conftest import Simunix
from tests.roots import KeptRoot
from tests.system.runs import Run, assert_same, run
from tests.system.slurm.test_job_table import CONF

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

NODES = """
TaskPlugin=task/affinity
GresTypes=gpu,mps,shard,nic
NodeName=node1 Sockets=2 CoresPerSocket=4 RealMemory=15000 Gres=gpu:a100:2,gpu:v100:2,nic:2
NodeName=node2 Sockets=2 CoresPerSocket=4 RealMemory=15000 Gres=gpu:2,mps:200
NodeName=node3 Sockets=2 CoresPerSocket=4 RealMemory=15000 Gres=gpu:2,shard:8
PartitionName=all Nodes=node[1-3] Default=YES
"""
GRES = """
NodeName=node1 Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-3
NodeName=node1 Name=gpu Type=v100 File=/dev/nvidia[2-3] Cores=4-7
NodeName=node1 Name=nic File=/dev/infiniband/uverbs[0-1]
NodeName=node2 Name=gpu File=/dev/nvidia[0-1]
NodeName=node2 Name=mps Count=100 File=/dev/nvidia0
NodeName=node2 Name=mps Count=100 File=/dev/nvidia1
NodeName=node3 Name=gpu File=/dev/nvidia[0-1]
NodeName=node3 Name=shard Count=8
"""
SCENARIO = """
hosts:
  - {name: controller, cores: 4, memory: 8GiB}
  - {name: 'node[1-3]', cores: 8, sockets: 2, memory: 16GiB}
slurm: {controller: controller, nodes: 'node[1-3]', config: slurm.conf}
stop: processes
until: 5min
processes:
  - {name: user, host: controller, start: 10s, command: [sh, -c, SCRIPT]}
"""
SHOW = (
    "echo $SLURM_PROCID gpus=$SLURM_STEP_GPUS cuda=$CUDA_VISIBLE_DEVICES mps=$CUDA_MPS_ACTIVE_THREAD_PERCENTAGE "
    'shards=$SLURM_SHARDS_ON_NODE on=$SLURM_GPUS_ON_NODE cpus=$(taskset -cp $$ | sed "s/.*: //")'
)
STEPS = {
    "-wnode1 --gres=gpu:2": ["0 gpus=0,1 cuda=0,1 mps= shards= on=2 cpus=0"],
    "-wnode1 --gres=gpu:a100:2": ["0 gpus=0,1 cuda=0,1 mps= shards= on=2 cpus=0"],
    "-wnode1 --gres=gpu:v100:2": ["0 gpus=2,3 cuda=2,3 mps= shards= on=2 cpus=4"],
    "-wnode1 --gres=gpu:a100:1,gpu:v100:1": ["0 gpus=0,2 cuda=0,2 mps= shards= on=2 cpus=0"],
    "-wnode1 -n2 --gpus-per-task=1": [
        "0 gpus=0 cuda=0 mps= shards= on=2 cpus=0",
        "1 gpus=1 cuda=1 mps= shards= on=2 cpus=1",
    ],
    "-wnode1 -n2 --gres=gpu:4 --gpu-bind=single:1": [
        "0 gpus=0 cuda=0 mps= shards= on=4 cpus=0",
        "1 gpus=3 cuda=3 mps= shards= on=4 cpus=4",
    ],
    "-wnode1 -n4 --gres=gpu:4 --gpu-bind=map_gpu:3,2,1,0": [
        "0 gpus=3 cuda=3 mps= shards= on=4 cpus=0",
        "1 gpus=2 cuda=2 mps= shards= on=4 cpus=4",
        "2 gpus=1 cuda=1 mps= shards= on=4 cpus=1",
        "3 gpus=0 cuda=0 mps= shards= on=4 cpus=5",
    ],
    "-wnode1 -n2 --gres=gpu:4 --gpu-bind=mask_gpu:0x3,0xc": [
        "0 gpus=0,1 cuda=0,1 mps= shards= on=4 cpus=0",
        "1 gpus=2,3 cuda=2,3 mps= shards= on=4 cpus=4",
    ],
    "-wnode1 -n2 --gres=gpu:4 --gpu-bind=closest": [
        "0 gpus=0,1 cuda=0,1 mps= shards= on=4 cpus=0",
        "1 gpus=2,3 cuda=2,3 mps= shards= on=4 cpus=4",
    ],
    "-wnode1 --gres=gpu:v100:1 --gres-flags=enforce-binding": ["0 gpus=2 cuda=2 mps= shards= on=1 cpus=4"],
    "-wnode1 --gres=nic:1": ["0 gpus= cuda= mps= shards= on= cpus=0"],
    "-wnode2 --gres=mps:50": ["0 gpus= cuda= mps=50 shards= on= cpus=0"],
    "-wnode3 --gres=shard:2": ["0 gpus=0 cuda=0 mps= shards=2 on=1 cpus=0"],
}
"""What each step's tasks say; the emulated Slurm's own choice of GPUs and cores, as its documentation has it."""


def test_steps_see_the_gpus_that_they_have(simunix: Simunix, tmp_path: Path) -> None:
    plain = re.sub(r"^(NodeName|PartitionName|TaskPlugin)=.*\n", "", CONF, flags=re.MULTILINE)
    (tmp_path / "slurm.conf").write_text(plain + NODES)
    (tmp_path / "gres.conf").write_text(GRES)
    (tmp_path / "show").write_text(SHOW)
    steps = "\n".join(f'echo "== {step}"; srun {step} bash -c "$(cat {tmp_path}/show)" | sort' for step in STEPS)
    script = f"sinfo -Nho '%N %t %G'\n{steps}\necho '== devices'\nsrun -wnode1 ls -l /dev/nvidia0 /dev/infiniband\n"
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("SCRIPT", json.dumps(script)))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=200)
    assert done.returncode == 0 and "drain" not in done.stderr, done.stderr
    told = (tmp_path / "out/hosts/controller/user.out").read_text().split("== ")
    assert "node1 idle gpu:a100:2(S:0),gpu:v100:2(S:1),nic:2\nnode2 idle gpu:2,mps:200\nnode3 idle gpu:2,shard:8\n" in told[0]
    found = {part.split("\n")[0]: part.split("\n")[1:-1] for part in told[1:]}
    files = found.pop("devices")
    assert found == STEPS
    assert files[0].startswith("crw-rw-rw- 1 root root 195, 0 ") and files[-1].startswith("crw-rw-rw- 1 root root 231, 193 ")


CONFINED = """
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
GresTypes=gpu
NodeName=node1 Sockets=2 CoresPerSocket=4 RealMemory=15000 Gres=gpu:2
PartitionName=all Nodes=node1 Default=YES
"""
OPEN = "for n in 0 1; do (exec 3<>/dev/nvidia$n) 2>/dev/null && echo $SLURM_PROCID opens $n; done"
LOOK = f"{OPEN}; (exec 3</dev/zero) || echo no zero"
USER = f"""
echo '== one'; srun --gres=gpu:1 bash -c '{LOOK}'
echo '== both'; srun --gres=gpu:2 bash -c '{LOOK}'
echo '== none'; srun bash -c '{LOOK}'
echo '== each'; srun -n2 --gpus-per-task=1 bash -c '{LOOK}' | sort
srun --gres=gpu:1 sleep 5 &
sleep 1
echo '== other'; srun --gres=gpu:1 bash -c '{LOOK}'
wait
echo '== made'; srun --gres=gpu:1 bash -c 'mknod /run/own c 195 1 || echo refused; [ ! -e /run/own ]'
"""
SEEN = {
    "one": ["0 opens 0"],
    "both": ["0 opens 0", "0 opens 1"],
    "none": [],
    "each": ["0 opens 0", "1 opens 1"],
    "other": ["0 opens 1"],
    "made": ["refused"],
}


def confined(simunix: Simunix, folder: Path, name: str, *options: object) -> Run:
    """A run of jobs on a node whose devices are confined (ConstrainDevices)."""
    plain = re.sub(r"^(NodeName|PartitionName|TaskPlugin|ProctrackType)=.*\n", "", CONF, flags=re.MULTILINE)
    (folder / "slurm.conf").write_text(plain + CONFINED)
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nConstrainDevices=yes\n")
    (folder / "gres.conf").write_text("Name=gpu File=/dev/nvidia[0-1]\n")
    text = SCENARIO.replace("node[1-3]", "node1").replace("SCRIPT", json.dumps(USER))
    (folder / "s.yaml").write_text(text)
    return run(simunix, folder / "s.yaml", folder / name, *options, timeout=300)


def seen(ran: Run) -> dict[str, list[str]]:
    """What each step has opened."""
    parts = ran.output("controller", "user").split("== ")[1:]
    return {part.split("\n")[0]: part.split("\n")[1:-1] for part in parts}


def test_a_job_opens_no_gpu_that_it_has_not_got(simunix: Simunix, tmp_path: Path) -> None:
    """By the programs that slurmstepd puts on the cgroups of its tasks; in two runs at the same moments."""
    first, again = (confined(simunix, tmp_path, name) for name in ("first", "again"))
    assert seen(first) == SEEN
    assert_same(first, again)


def test_the_slurm_of_another_release_confines_too(fresh_simunix: Simunix, tmp_path: Path) -> None:
    root = KeptRoot("trixie", "trixie", ("slurm-wlm", "munge", "python3")).made(fresh_simunix)
    ran = confined(fresh_simunix, tmp_path, "out", "--set", f"root={root}")
    assert seen(ran) == SEEN


SITE = """ClusterName=gpus
SlurmctldHost=head
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName=DEFAULT Sockets=2 CoresPerSocket=2 RealMemory=1000 Gres=gpu:a100:2,gpu:v100:1
NodeName=s[1-2]
PartitionName=p Nodes=s[1-2] Default=YES
"""
OF_SITE = f"""
sinfo -Nho '%N %t %G'
echo '== v100'; srun -ws2 --gres=gpu:v100:1 bash -c '{OPEN.replace("0 1", "0 1 2")}; true'
echo '== a100'; srun -ws1 --gpus=a100:2 bash -c '{OPEN.replace("0 1", "0 1 2")}; true'
"""


def test_a_site_that_lets_slurm_detect_its_gpus_is_imported(simunix: Simunix, tmp_path: Path) -> None:
    site = tmp_path / "in"
    site.mkdir()
    (site / "slurm.conf").write_text(SITE)
    (site / "gres.conf").write_text("AutoDetect=nvml\n")
    (site / "cgroup.conf").write_text("ConstrainDevices=yes\nConstrainCores=yes\n")
    done = simunix("slurm", "import", site / "slurm.conf", "--output", tmp_path / "site")
    assert done.returncode == 0 and "drain" not in done.stdout, done.stdout + done.stderr
    path = tmp_path / "site/scenario.yaml"
    user = {"name": "user", "host": "s1", "start": "20s", "command": ["bash", "-c", OF_SITE]}
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"processes": [user], "until": "60s"}))
    told = run(simunix, path, tmp_path / "out", timeout=250).output("s1", "user").split("\n")
    assert told[:2] == [f"s{number} idle gpu:a100:2,gpu:v100:1" for number in (1, 2)]
    assert told[2:-1] == ["== v100", "0 opens 2", "== a100", "0 opens 0", "0 opens 1"]
