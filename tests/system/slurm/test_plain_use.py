"""Slurm's daemons wrapped by one command line, with a plain slurm.conf that lies anywhere: three jobs run, as natively."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from simunix.cli.main import main
from simunix.launch import emulation as launch
from simunix.launch.factory.container import Isolation
from tests.conftest import ROOT, Simunix
from tests.needs import needs_root

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


def test_a_slurmd_that_joins_runs_jobs(tmp_path: Path) -> None:
    joined([sys.executable, "-m", "simunix.cli.main"], tmp_path)


def joined(simunix: list[str], folder: Path) -> None:
    """As README shows it: the controller is wrapped by one command, the node's daemon joins; three jobs run."""
    configure(folder, SITE, CONSTRAINED)
    out = folder / "out"
    log = folder / "slurmctld.log"
    controller = command(folder, "mkdir /tmp/state; exec slurmctld -D -f FOLDER/slurm.conf >FOLDER/slurmctld.log 2>&1")
    node = command(folder, "mkdir /tmp/spool; exec slurmd -D -f FOLDER/slurm.conf >FOLDER/slurmd.log 2>&1")
    wrapped = subprocess.Popen([*simunix, "run", "--out", str(out), "--pace", "20", "--", *controller])
    beside = None
    try:
        end = time.monotonic() + 60
        while not (log.exists() and "primary controller" in log.read_text()):
            assert time.monotonic() < end
            time.sleep(0.2)
        beside = subprocess.Popen([*simunix, "run", "--join", str(out), "--", *node])
        words = [*simunix, "run", "--join", str(out), "--", *command(folder, JOBS)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        assert (done.stdout.splitlines(), done.returncode) == (DONE, 0), (folder / "slurmd.log").read_text()
    finally:
        subprocess.run([*simunix, "ctl", str(out), "stop"], check=False)
        wrapped.wait(60)
        if beside is not None:
            beside.wait(60)


INTERPRETER = Path("/usr/bin/python3")
"""One that every user may run, unlike that of a developer's home."""
MODULES = (ROOT, Path(yaml.__file__).parents[1])


@pytest.fixture
def user() -> Iterator[list[str]]:
    """What runs simunix as a user that this computer has for the test only, in a home of its own."""
    asked = subprocess.run([INTERPRETER, "--version"], capture_output=True, text=True, check=False)
    if not asked.stdout.startswith(f"Python {sys.version_info.major}.{sys.version_info.minor}."):
        pytest.skip(f"{INTERPRETER} is not of the release that simunix was built for")
    name = f"simunix-{os.getpid()}"
    subprocess.run(["useradd", "--create-home", name], check=True)
    try:
        words = ["runuser", "-u", name, "--", "env", f"HOME=/home/{name}", f"PATH={os.environ['PATH']}:/usr/sbin"]
        words += ["PYTHONPATH=" + ":".join(map(str, MODULES)), str(INTERPRETER), "-m", "simunix.cli.main"]
        if subprocess.run([*words, "--help"], capture_output=True, check=False).returncode != 0:
            pytest.skip("other users may not read this checkout")
        yield words
    finally:
        subprocess.run(["userdel", "--remove", name], check=True, capture_output=True)


def home(words: list[str]) -> Path:
    """The home of the user who runs simunix by these words."""
    return Path(next(word for word in words if word.startswith("HOME=")).removeprefix("HOME="))


@needs_root("makes an ordinary user")
def test_a_user_of_this_computer_runs_three_jobs(user: list[str]) -> None:
    folder = home(user)
    configure(folder, "", "")
    text = command(folder, DAEMONS + JOBS + "kill %1 %2")
    done = subprocess.run([*user, "run", "--", *text], capture_output=True, text=True, cwd=folder, timeout=120, check=False)
    assert (done.stdout.splitlines(), done.returncode) == (DONE, 0), done.stderr + (folder / "slurmd.log").read_text()


@needs_root("makes an ordinary user")
def test_a_slurmd_of_a_user_joins(user: list[str]) -> None:
    joined(user, home(user))
