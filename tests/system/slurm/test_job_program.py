"""The job program in an emulation without any RJMS: its language, its times, what it says when something is wrong."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from simunix.planning.behaviour import JOB_PROGRAM
from tests.conftest import Simunix

LAUNCHER = """#!/bin/sh
# Starts two ranks here, as srun would on two hosts.
SLURM_PROCID=0 "$@" & SLURM_PROCID=1 "$@" & wait
"""


def run(simunix: Simunix, folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a script alone in an emulation."""
    script = folder / "script.job"
    script.write_text(f"#!{JOB_PROGRAM}\n{text}")
    script.chmod(0o755)
    return simunix("run", *options, "--", script)


def spans(log: str) -> list[float]:
    """Seconds that each outermost step took."""
    moments = [float(line.split()[0]) for line in log.splitlines() if re.match(r"\d+\.\d{9} (begins|ends) ", line)]
    return [end - begin for begin, end in zip(moments[::2], moments[1::2], strict=True)]


def test_steps_take_what_they_say(simunix: Simunix, tmp_path: Path) -> None:
    done = run(
        simunix,
        tmp_path,
        "# a comment\ndelay 10.5\nrepeat 3\nrepeat 2\ndelay 1\nend\nend\ntask\ncpu * 2000000000\nend\nsuspendable 7\n",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert spans(done.stdout) == pytest.approx([10.5, 6, 2, 7], abs=1e-4)


def test_computing_and_bytes_go_on_at_the_same_time(simunix: Simunix, tmp_path: Path) -> None:
    done = run(simunix, tmp_path, "task\ncpu 0 2000000000\nsend 0 0 1000000\nend\n")
    assert spans(done.stdout) == pytest.approx([2], abs=1e-3)


def test_ranks_exchange_bytes_and_compute(simunix: Simunix, tmp_path: Path) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text(LAUNCHER)
    launcher.chmod(0o755)
    done = run(
        simunix,
        tmp_path,
        f"ranks 2\nlaunch {launcher}\nrepeat 5\ntask\ncpu 1 1000000000\nsend * * 300000\nend\nend\ndelay 1\n",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "ranks are there: 2\n" in done.stdout
    assert spans(done.stdout) == pytest.approx([5, 1], abs=0.01)


def test_ranks_of_a_host_that_is_called_localhost_and_has_two_addresses(simunix: Simunix, tmp_path: Path) -> None:
    launcher, script = tmp_path / "launcher", tmp_path / "script.job"
    launcher.write_text(LAUNCHER)
    script.write_text(f"#!{JOB_PROGRAM}\nranks 2\nlaunch {launcher}\ntask\nsend * * 300000\nend\n")
    for path in (launcher, script):
        path.chmod(0o755)
    done = simunix("run", "--", "unshare", "--uts", "sh", "-c", f"hostname localhost; [ $(hostname) = localhost ] && {script}")
    if "unshare" in done.stderr:
        pytest.skip("this user may not have a host name of its own")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(spans(done.stdout)) == 1


@pytest.mark.parametrize(("text", "code"), [("delay 1\nexit 3\ndelay 100\n", 3), ("run exit 4\ndelay 100\n", 4)])
def test_the_exit_code_is_the_scripts(simunix: Simunix, tmp_path: Path, text: str, code: int) -> None:
    done = run(simunix, tmp_path, text)
    assert done.returncode == code
    assert sum(spans(done.stdout)) < 2


def test_a_suspendable_step_counts_only_time_in_which_it_is_not_suspended(simunix: Simunix, tmp_path: Path) -> None:
    script = tmp_path / "script.job"
    script.write_text(f"#!{JOB_PROGRAM}\nsuspendable 10\n")
    script.chmod(0o755)
    command = f"{script} & sleep 3; kill -TSTP $!; sleep 2; kill -STOP $!; sleep 98; kill -CONT $!; wait"
    done = simunix("run", "--", "/bin/sh", "-c", command)
    assert re.search(r"^\d+\.\d{9} suspended for 100\.0\d* s$", done.stdout, re.MULTILINE), done.stdout
    assert spans(done.stdout) == pytest.approx([110], abs=0.01)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("delay ten\n", r"script.job:2: expected seconds: ten$"),
        ("delay\n", r"script.job:2: words are missing: delay$"),
        ("dela 1\n", r"script.job:2: no such command: dela$"),
        ("cpu 0 1\n", r"script.job:2: only in a task: cpu$"),
        ("task\ndelay 1\nend\n", r"script.job:3: not in a task: delay$"),
        ("task\ncpu 1 1\nend\n", r"script.job:3: no such rank: 1$"),
        ("task\nread 0 0 1\nend\n", r"script.job:3: no such storage: 0$"),
        ("task\ncpu 0 -1\nend\n", r"script.job:3: expected a whole number: -1$"),
        ("end\n", r"script.job:2: nothing to end here$"),
        ("repeat 2\n", r"script.job:2: the file ends before this is ended: repeat 2$"),
        ("storage nowhere 1\n", r"simunix-job: nowhere port 1: "),
        ("ranks 2\nlaunch /nonexistent\ntask\nend\n", r"/nonexistent ended with status 1 before all 2 ranks had started$"),
    ],
)
def test_a_wrong_script_is_told_by_its_line(simunix: Simunix, tmp_path: Path, text: str, message: str) -> None:
    done = run(simunix, tmp_path, text)
    assert done.returncode == 1
    assert re.search(message, done.stderr.strip()), done.stderr


def test_computing_without_an_emulation_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "script.job"
    script.write_text("task\ncpu * 1\nend\n")
    done = subprocess.run([JOB_PROGRAM, script], capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 1
    assert "computing needs an emulated host" in done.stderr


def test_it_runs_with_the_c_library_of_older_debians() -> None:
    """Hosts may have a root of Debian 11, whose glibc is 2.31."""
    symbols = subprocess.run(["objdump", "-T", JOB_PROGRAM], capture_output=True, text=True, check=True).stdout
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([\d.]+)", symbols)}
    assert versions and max(versions) <= (2, 31)
