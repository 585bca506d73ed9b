"""A debugger inside, on a daemon of the cluster: it attaches, looks round, and lets the daemon go on as if nothing had been."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs
from tests.system.runs import run_twice

pytestmark = [
    pytest.mark.slow,
    pytest.mark.slurm,
    needs("gdb"),
    pytest.mark.skipif(os.geteuid() != 0, reason="without root /proc shows no other processes of the host"),
]
SCENARIO = """
name: debugged
hosts: [{name: ctl}, {name: 'n[1-2]'}]
slurm: {controller: ctl, nodes: 'n[1-2]'}
stop: user
processes:
  - name: user
    host: ctl
    start: 10s
    command: "srun -N2 hostname | sort;
              gdb -nx -batch -p $(pgrep -o slurmctld) -ex 'set pagination off' -ex 'info threads' -ex 'thread apply 1 backtrace'
                -ex 'break slurm_send_node_msg' -ex continue -ex backtrace -ex 'delete' -ex detach >/tmp/out 2>/tmp/err &
              sleep 5; squeue --noheader; wait; srun -N2 hostname | sort; scontrol ping; cat /tmp/out"
"""


def test_gdb_attaches_to_the_controller(simunix: Simunix, tmp_path: Path) -> None:
    """A breakpoint in its library stops the thread that answers a client, which gets the answer once the debugger lets go."""
    (tmp_path / "s.yaml").write_text(SCENARIO)
    for ran in run_twice(simunix, tmp_path / "s.yaml", tmp_path, timeout=200):
        told = ran.output("ctl", "user")
        before, pinged, said = told.partition("Slurmctld(primary) at ctl is UP\n")
        assert pinged and before.splitlines()[:2] == before.splitlines()[-2:] == ["n1", "n2"], told
        assert "in main ()" in said and '"bckfl"' in said and "hit Breakpoint 1" in said, told
        assert re.search(r"#\d+ .* in slurmctld_req \(\)", said) and "detached]" in said, told
