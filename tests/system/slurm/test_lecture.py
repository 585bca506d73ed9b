"""A teacher's lecture in one terminal: a cluster at a pace, a shell on its head node, watch squeue, a node that fails."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.app.join import ask
from tests.system.user import SIMUNIX, User

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
HERE, HEAD = "teacher$ ", "root@head:~# "
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
SUBMIT = "sbatch --output=/dev/null --requeue --nodes=2 --exclusive --wrap 'sleep 7200'"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where the lecture is given; its cluster is ended if a test has not done so."""
    yield tmp_path
    with contextlib.suppress(SimunixError):
        ask(tmp_path / "out/lecture", {"op": "stop"})


def test_the_lecture(folder: Path) -> None:
    (folder / "lecture.yaml").write_text(CLUSTER)
    simunix = shlex.join(SIMUNIX)
    with User("--norc", "--noprofile", "-i", program=("bash",), cwd=folder, PS1=HERE, HISTFILE="") as teacher:
        teacher.sees(HERE)
        teacher.type(f"{simunix} run lecture.yaml --pace 30 --keep-alive --out out/lecture &\r")
        teacher.sees(HERE)
        asked = f"until {simunix} shell out/lecture --host head -- scontrol ping; do sleep 1; done"
        assert "UP" in teacher.says(asked, HERE)
        teacher.type(f"{simunix} shell out/lecture --host head\r")
        teacher.sees(HEAD)
        assert "idle node[1-4]" in teacher.says("sinfo")
        assert "Submitted batch job 1" in teacher.says(SUBMIT)
        teacher.type("watch -n 5 squeue\r")
        teacher.sees("Every 5.0s: squeue")
        teacher.sees("node[1-2]")
        _node_fails(teacher, simunix)
        teacher.sees("node[2-3]")  # SlurmdTimeout is over: the job is requeued, and starts on nodes that are up
        teacher.type("\x03")
        teacher.sees(HEAD)
        assert "down" in teacher.says("sinfo -N -h -n node1")
        teacher.type("srun --pty -w node4 bash\r")  # a terminal on a node, by Slurm
        teacher.sees("root@node4:")
        teacher.type("exit\r")
        teacher.sees(HEAD)
        teacher.type("exit\r")
        teacher.sees(HERE)
        assert "0" in teacher.says("echo $?", HERE)
        teacher.says(f"{simunix} ctl out/lecture stop; wait", HERE)
        teacher.type("exit\r")
        assert teacher.ends() == 0 and teacher.is_as_before()
        assert "virtual, ×" not in teacher.shown  # the progress of a run in the background


def _node_fails(teacher: User, simunix: str) -> None:
    """Suspend the shell on the head node, switch a node off, and go on."""
    teacher.type("\r~\x1a")
    teacher.sees("Stopped")
    teacher.sees(HERE)
    assert '"hosts"' in teacher.says(f"{simunix} ctl out/lecture host node1 off", HERE)
    teacher.type("fg\r")
    teacher.sees("squeue")
