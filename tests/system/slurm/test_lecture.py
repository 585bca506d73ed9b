"""A teacher's lecture in one terminal: a cluster at a pace, a shell on its head node, watch squeue, a node that fails."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from simunix.app.join import NotRunningError, ask
from tests.conftest import Simunix
from tests.system.user import LIMIT_S, ROOT, User

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
PROMPT = "root@head:~# "
CLUSTER = """
name: lecture
hosts:
  - {name: head, cores: 4, memory: 8GiB}
  - {name: 'node[1-4]', cores: 8, memory: 16GiB}
slurm:
  controller: head
  nodes: node[1-4]
  parameters: {SlurmdTimeout: 60}
"""


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    """The run directory of a cluster that runs."""
    (tmp_path / "lecture.yaml").write_text(CLUSTER)
    words = ["run", "lecture.yaml", "--pace", "30", "--keep-alive", "--out", "out"]
    with subprocess.Popen(
        [sys.executable, "-m", "simunix.cli.main", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as running:
        end = time.monotonic() + LIMIT_S
        while not _is_up(tmp_path / "out"):
            assert time.monotonic() < end and running.poll() is None
            time.sleep(0.1)
        yield tmp_path / "out"
        running.terminate()
        running.communicate(timeout=LIMIT_S)


def _is_up(out: Path) -> bool:
    try:
        return float(ask(out, {"op": "status"})["virtual_s"]) > 20
    except NotRunningError:
        return False


def test_the_lecture(out: Path, simunix: Simunix) -> None:
    with User("shell", out, "--host", "head", rows=24, columns=100) as user:
        user.sees(PROMPT)
        assert "idle node[1-4]" in user.says("sinfo")
        job = "sbatch --output=/dev/null --requeue --nodes=2 --exclusive --wrap 'sleep 7200'"
        assert "Submitted batch job 1" in user.says(job)
        user.type("watch -n 5 squeue\r")
        user.sees("Every 5.0s: squeue")
        user.sees("node[1-2]")
        assert simunix("ctl", out, "host", "node1", "off").returncode == 0
        user.sees("node[2-3]")  # SlurmdTimeout is over: the job is requeued, and starts on nodes that are up
        user.type("\x03")
        user.sees(PROMPT)
        assert "down" in user.says("sinfo -N -h -n node1")
        assert simunix("ctl", out, "host", "node1", "on").returncode == 0
        user.says("scontrol update NodeName=node1 State=RESUME")
        user.says("scancel 1")
        user.type("srun --pty -w node4 bash\r")
        user.sees("root@node4:")
        user.type("exit\r")
        user.sees(PROMPT)
        user.type("exit\r")
        assert user.ends() == 0 and user.is_as_before()
