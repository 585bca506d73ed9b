"""Slurm on hosts with sockets and NUMA nodes: where srun's options bind tasks and their memory, and that runs are equal."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs
from tests.system.load import busy_computer

pytestmark = [pytest.mark.slurm, pytest.mark.skipif(os.geteuid() != 0, reason="without root a step cannot be bound")]
SCENARIO = """
name: numa
hosts:
- {name: ctl, cores: 4}
- {name: 'n[1-2]', cores: 32, sockets: 2, threads_per_core: 2, numa_per_socket: 2, memory: 16GiB, gpus: 4}
slurm:
  controller: ctl
  nodes: n[1-2]
  parameters: {TaskPlugin: task/affinity, SelectTypeParameters: CR_Core_Memory}
stop: time
until: 5min
processes:
- {name: user, host: ctl, start: 10s, command: "/bin/sh OPTIONS"}
"""
PROCESSORS = {
    "--cpu-bind=sockets -n2 -m block:cyclic -c8": ["0-3,16-19", "8-11,24-27"],
    "--cpu-bind=sockets -n2 -c16": ["0-7,16-23", "8-15,24-31"],
    "--cpu-bind=cores -n4 -c2 -m block:block": ["0,16", "1,17", "2,18", "3,19"],
    "--cpu-bind=cores -n4 -c2 -m block:cyclic": ["0,16", "8,24", "1,17", "9,25"],
    "--hint=nomultithread -n4": ["0", "8", "1", "9"],
    "--cpu-bind=rank_ldom -n4": ["0-3,16-19", "4-7,20-23", "8-11,24-27", "12-15,28-31"],
    "--cpu-bind=map_ldom:3,2,1,0 -n4": ["12-15,28-31", "8-11,24-27", "4-7,20-23", "0-3,16-19"],
    "--cpu-bind=mask_cpu:0x1,0x30000 -n2": ["0", "16-17"],
}
"""Options of srun, and the processors of the tasks in the order of their numbers, in a job that has the whole node."""
MEMORY = {
    "--mem-bind=map_mem:3,2,1,0": ["bind 3", "bind 2", "bind 1", "bind 0"],
    "--mem-bind=rank": ["bind 0", "bind 1", "bind 2", "bind 3"],
    "--mem-bind=mask_mem:0x3,0xc": ["bind 0 1", "bind 2 3", "bind 0 1", "bind 2 3"],
    "--mem-bind=local --cpu-bind=map_ldom:2,3,0,1": ["bind 2", "bind 3", "bind 0", "bind 1"],
    "--mem-bind=none": ["default 0 1 2 3"] * 4,
}
SHOW_PROCESSORS = "echo $SLURM_PROCID $(grep Cpus_allowed_list /proc/self/status | cut -f2)"
SHOW_MEMORY = 'echo $SLURM_PROCID $(numactl --show 2>/dev/null | sed -n "s/^policy: //p; s/^membind: //p")'


def commands() -> str:
    """A script that runs all of them one after the other, each in a job that has one node for itself."""
    lines = []
    for options in (*PROCESSORS, *MEMORY):
        show, count = (SHOW_PROCESSORS, "") if options in PROCESSORS else (SHOW_MEMORY, "-n4")
        lines.append(
            f"echo '== {options}'; salloc -Q -N1 --exclusive --mem=0 srun -Q {count} {options} sh -c '{show}' | sort -n"
        )
    return "\n".join(lines) + "\n"


def answers(text: str) -> dict[str, list[str]]:
    """What the tasks have printed, by the options, without their numbers."""
    parts = [part.splitlines() for part in text.split("== ")[1:]]
    return {lines[0]: [line.split(" ", 1)[1] for line in lines[1:]] for lines in parts}


@needs("numactl")
def test_tasks_and_their_memory_are_bound_where_srun_says(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "options.sh").write_text(commands())
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("OPTIONS", f"{tmp_path}/options.sh"))
    digests = []
    for number in range(2):
        out = tmp_path / f"out{number}"
        if number == 0:
            done = simunix("run", tmp_path / "s.yaml", "--out", out, timeout=200)
        else:
            with busy_computer():
                done = simunix("run", tmp_path / "s.yaml", "--out", out, timeout=200)
        assert done.returncode == 0, done.stderr
        digests.append(json.loads((out / "run.json").read_text())["events_sha256"])
        found = answers((out / "hosts/ctl/user.out").read_text())
        assert found == PROCESSORS | MEMORY, (out / "hosts/ctl/user.err").read_text()
    assert digests[0] == digests[1]
