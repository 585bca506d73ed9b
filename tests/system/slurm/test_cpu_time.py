"""Slurm reports the CPU time that was charged: by sstat's AveCPU of a running step, and by CPULoad of its node."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Simunix

PROGRAM = Path(__file__).parents[1] / "programs/cpu_limits.c"
COSTS = "format: simunix costs 1\nprograms:\n  cpu_limits: {getppid: 1000000000}\n"
SCENARIO = """
name: cpu_time
cpu_policy: modelled
cpu_costs: costs.yaml
hosts: [{name: controller}, {name: 'node[1-2]', cores: 4}]
stop: asker
slurm:
  controller: controller
  nodes: node[1-2]
  parameters: {JobAcctGatherType: jobacct_gather/linux, JobAcctGatherFrequency: task=10}
processes:
  - name: asker
    host: controller
    start: 10s
    command: |
      sbatch -w node1 -n 3 --wrap 'srun PROGRAM calls 1000' >/dev/null
      sleep 605
      sstat -n -P -j 1.0 -o AveCPU,MinCPU,NTasks
      scontrol show node node1 | grep -o 'CPULoad=[^ ]*'
      scontrol show node node2 | grep -o 'CPULoad=[^ ]*'
"""
"""Three tasks compute for a thousand seconds, one a core."""

pytestmark = [pytest.mark.slow, pytest.mark.slurm]


def seconds(text: str) -> int:
    hours, minutes, rest = (int(part) for part in re.split("[:.]", text)[:3])
    return 3600 * hours + 60 * minutes + rest


def test_sstat_and_the_load_of_a_node_tell_what_was_charged(simunix: Simunix, tmp_path: Path) -> None:
    program = tmp_path / "cpu_limits"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", program, PROGRAM, "-pthread"], check=True)
    (tmp_path / "costs.yaml").write_text(COSTS)
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("PROGRAM", str(program)))
    done = simunix("run", tmp_path / "s.yaml", "--set", f"shared=[{tmp_path}]", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    usage, load, idle = (tmp_path / "out/hosts/controller/asker.out").read_text().splitlines()
    average, least, tasks = usage.split("|")
    assert tasks == "3"
    assert 585 <= seconds(least) <= seconds(average) <= 606  # sampled every ten seconds
    assert 1.5 < float(load.partition("=")[2]) < 3.1  # of five minutes, as it was when the node last answered a ping
    assert idle == "CPULoad=0.00"
