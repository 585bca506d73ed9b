"""Slurm's daemons wrapped by one command line, with a plain slurm.conf that lies anywhere: three jobs run, as natively."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simunix.cli.main import main
from simunix.launch import emulation as launch
from simunix.launch.factory.container import Isolation
from tests.conftest import Simunix

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

CONF = """
ClusterName=plain
SlurmctldHost=HOST
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=/tmp/state
SlurmdSpoolDir=/tmp/spool
SlurmctldPidFile=/tmp/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
SelectType=select/cons_tres
NodeName=HOST CPUs=1 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES
"""
SITE = """
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
JobAcctGatherType=jobacct_gather/cgroup
"""
CONSTRAINED = "ConstrainCores=yes\nConstrainRAMSpace=yes\nConstrainDevices=yes\n"
JOBS = """
for i in 1 2 3; do sbatch -o FOLDER/$i.out --wrap 'cat /proc/self/cgroup; sleep 10'; done
while squeue -h | grep -q .; do sleep 1; done
scontrol show jobs | grep -o JobState=[A-Z]*
"""
DAEMONS = """
mkdir -p /tmp/state /tmp/spool
slurmctld -D -f FOLDER/slurm.conf >FOLDER/slurmctld.log 2>&1 & slurmd -D -f FOLDER/slurm.conf >FOLDER/slurmd.log 2>&1 &
sleep 5
"""
DONE = [f"Submitted batch job {number}" for number in (1, 2, 3)] + 3 * ["JobState=COMPLETED"]


def configure(folder: Path, more: str, cgroup: str | None) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "slurm.conf").write_text(CONF.replace("HOST", os.uname().nodename.split(".")[0]) + more)
    if cgroup is not None:
        (folder / "cgroup.conf").write_text(cgroup)


def command(folder: Path, text: str) -> list[str]:
    return ["bash", "-c", f"export SLURM_CONF={folder}/slurm.conf\n{text}".replace("FOLDER", str(folder))]


@pytest.mark.parametrize(
    ("more", "cgroup", "group"),
    [
        ("ProctrackType=proctrack/linuxproc\n", None, "slurmd"),
        ("ProctrackType=proctrack/linuxproc\n", "IgnoreSystemd=yes\n", "slurmd"),
        ("", "", "job_1/step_batch/user/task_special"),
        (SITE, CONSTRAINED, "job_1/step_batch/user/task_0"),
    ],
    ids=["plain", "without-systemd", "default", "production"],
)
def test_one_command_line_runs_three_jobs(simunix: Simunix, tmp_path: Path, more: str, cgroup: str | None, group: str) -> None:
    configure(tmp_path / "conf", more, cgroup)
    text = command(tmp_path / "conf", DAEMONS + JOBS + "kill %1 %2")
    logs = []
    for name in ("one", "two"):
        done = simunix("run", "--epoch", "2025-01-01", "--out", tmp_path / name, "--", *text, timeout=120)
        assert (done.stdout.splitlines(), done.returncode) == (DONE, 0), (tmp_path / "conf/slurmd.log").read_text()
        logs.append((tmp_path / name / "events.jsonl").read_bytes())
    assert (tmp_path / "conf/1.out").read_text().rstrip().endswith(f"slurmstepd.scope/{group}")
    assert logs[0] == logs[1]


def test_an_ordinary_user_can_do_so(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "probe", lambda folders: (Isolation.USER_NAMESPACE, ""))
    configure(tmp_path, SITE, CONSTRAINED)
    assert main(["run", "--", *command(tmp_path, DAEMONS + JOBS + "kill %1 %2")]) == 0
    assert capfd.readouterr().out.splitlines() == DONE, (tmp_path / "slurmd.log").read_text()


def test_a_slurmd_that_joins_runs_jobs(simunix: Simunix, tmp_path: Path) -> None:
    """As README shows it: the controller is wrapped by one command, the node's daemon joins."""
    configure(tmp_path, SITE, CONSTRAINED)
    out = tmp_path / "out"
    log = tmp_path / "slurmctld.log"
    words = [sys.executable, "-m", "simunix.cli.main", "run"]
    controller = command(tmp_path, "mkdir /tmp/state; exec slurmctld -D -f FOLDER/slurm.conf >FOLDER/slurmctld.log 2>&1")
    node = command(tmp_path, "mkdir /tmp/spool; exec slurmd -D -f FOLDER/slurm.conf >FOLDER/slurmd.log 2>&1")
    wrapped = subprocess.Popen([*words, "--out", str(out), "--pace", "20", "--", *controller])
    joined = None
    try:
        end = time.monotonic() + 60
        while not (log.exists() and "primary controller" in log.read_text()):
            assert time.monotonic() < end
            time.sleep(0.2)
        joined = subprocess.Popen([*words, "--join", str(out), "--", *node])
        done = simunix("run", "--join", out, "--", *command(tmp_path, JOBS), timeout=120)
        assert (done.stdout.splitlines(), done.returncode) == (DONE, 0), (tmp_path / "slurmd.log").read_text()
    finally:
        simunix("ctl", out, "stop")
        wrapped.wait(60)
        if joined is not None:
            joined.wait(60)
