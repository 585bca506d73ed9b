"""What Slurm's own tests ask of signals and processors: slurmd obeys a reconfiguration at once, task/affinity binds tasks."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import Simunix

pytestmark = [pytest.mark.slurm, pytest.mark.skipif(os.geteuid() != 0, reason="without root a step cannot be bound")]
SCENARIO = """
name: binding
hosts: [{name: ctl, cores: 4}, {name: 'n[1-2]', cores: 4}]
slurm: {controller: ctl, nodes: 'n[1-2]', parameters: {TaskPlugin: task/affinity, SlurmdDebug: debug}}
stop: time
until: 2min
processes:
  - name: user
    host: ctl
    start: 10s
    command: "date +%s; scontrol reconfigure; sleep 40;
              srun -n4 -N1 -w n1 --cpu-bind=cores sh -c 'taskset -cp $$; exec taskset -cp $$' | sort"
"""


def test_slurmd_reconfigures_at_once_and_tasks_are_bound(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=100)
    assert done.returncode == 0, done.stderr
    told = (tmp_path / "out/hosts/ctl/user.out").read_text().splitlines()
    lists = [re.sub(r".*: ", "", line) for line in told[1:]]
    assert sorted(lists) == ["0", "0", "1", "1", "2", "2", "3", "3"], (told, (tmp_path / "out/hosts/ctl/user.err").read_text())
    log = next((tmp_path / "out/hosts/n1").rglob("slurmd.log")).read_text()
    again = [line for line in log.splitlines() if ":10." in line and "plugin loaded" in line]
    assert again, f"slurmd has not read its configuration again at 10 s:\n{log}"
