"""A user's own slurm.conf with files beside it: includes, gres.conf with devices, topology.conf; what drains is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.slurm.test_job_table import CONF

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SCENARIO = """
hosts:
  - {name: controller, cores: 4, memory: 8GiB}
  - {name: 'node[1-3]', cores: 8, memory: 16GiB}
slurm: {controller: controller, nodes: 'node[1-3]', config: slurm.conf}
stop: processes
until: 5min
processes:
  - {name: user, host: controller, start: 10s, command: "sinfo -Nho '%N %t %G'; srun -wnode1 --gres=gpu:2 sh -c 'ls /dev/nv*'"}
"""
NODES = "NodeName=node1 CPUs=8 RealMemory=15000 Gres=gpu:a100:2\nNodeName=node[2-3] CPUs=8 RealMemory=15000 Gres=gpu:1\n"
GRES = "NodeName=node1 Name=gpu Type=a100 File=/dev/nvidia[0-1]\nNodeName=node2 Name=gpu File=/dev/nvidia0\n"


def test_files_beside_go_along_and_a_missing_device_is_said_before_the_start(simunix: Simunix, tmp_path: Path) -> None:
    plain = CONF.replace("node[1-2]", "node[1-3]").replace("NodeName=node1", "#").replace("NodeName=node2", "#")
    (tmp_path / "slurm.conf").write_text(
        f"{plain}GresTypes=gpu\nTopologyPlugin=topology/tree\n".replace("PartitionName", "Include nodes.conf\nPartitionName")
    )
    (tmp_path / "nodes.conf").write_text(NODES)
    (tmp_path / "gres.conf").write_text(GRES)
    (tmp_path / "topology.conf").write_text("SwitchName=s Nodes=node[1-3]\n")
    (tmp_path / "s.yaml").write_text(SCENARIO)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=200)
    assert done.returncode == 0, done.stderr
    assert "1 nodes (node3 …) have Gres=gpu in slurm.conf, 1 of them on node3, but File= names 0: slurmd drains" in done.stderr
    told = (tmp_path / "out/hosts/controller/user.out").read_text()
    assert "node1 idle gpu:a100:2" in told and "node2 idle gpu:1" in told, told
    assert "node3 drain gpu:1" in told or "node3 inval gpu:1" in told
    assert "/dev/nvidia0\n/dev/nvidia1\n" in told


ELSEWHERE = """
hosts: [{name: 'controller,node[1-2]', cores: 8, memory: 16GiB}]
environment: {SLURM_CONF: FOLDER/site.conf}
slurm: {controller: controller, nodes: 'node[1-2]', config: site.conf}
stop: processes
until: 1min
processes:
  - {name: user, host: controller, start: 10s, command: "sinfo -Nho '%N %t'; srun -N2 -l hostname; ls /etc/slurm"}
"""


def test_a_slurm_conf_elsewhere_has_its_companions(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "site.conf").write_text(CONF)
    (tmp_path / "topology.conf").write_text("SwitchName=s Nodes=node[1-2]\n")
    (tmp_path / "s.yaml").write_text(ELSEWHERE.replace("FOLDER", str(tmp_path)))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=200)
    assert done.returncode == 0, done.stderr
    assert "slurmd ended" not in done.stderr
    told = (tmp_path / "out/hosts/controller/user.out").read_text()
    assert "node1 idle\nnode2 idle\n" in told and "0: node1\n" in told and "1: node2\n" in told, told
    assert "cgroup.conf" in told and "topology.conf" in told
