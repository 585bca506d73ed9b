"""`.ci/bare`: whatever ends it, it leaves nothing behind; a step that fails makes it fail. debootstrap is a stand-in here."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT, mounts_of, processes_named
from tests.needs import needs

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="only root makes root file systems"), needs("git")]


def started(tmp_path: Path, debootstrap: str) -> subprocess.Popen[str]:
    """`.ci/bare` with a shell script for debootstrap, which gets the root's folder as its fourth argument."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/debootstrap").write_text(f"#!/bin/sh\n{debootstrap}\n")
    (tmp_path / "bin/debootstrap").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}:/usr/sbin:/sbin"}
    return subprocess.Popen(
        [ROOT / ".ci/bare"],
        env={**environment, "SIMUNIX_BARE": str(tmp_path / "roots")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def what_is_left(tmp_path: Path) -> list[str]:
    """Processes, mounts and files of a run that has ended; processes that a signal has killed too may take a moment to go."""
    deadline = time.monotonic() + 10
    while True:
        left = [*processes_named(str(tmp_path)), *mounts_of(tmp_path), *map(str, (tmp_path / "roots").iterdir())]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_a_signal_ends_it_all(tmp_path: Path, number: signal.Signals, status: int) -> None:
    script = f'mount -t tmpfs tmpfs "$4"; touch "$4/file"; sleep 600 & touch {tmp_path}/begun; wait'
    with started(tmp_path, script) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        os.killpg(process.pid, number)
        assert process.wait(60) == status
    assert what_is_left(tmp_path) == []


def test_a_step_that_fails_makes_it_fail(tmp_path: Path) -> None:
    with started(tmp_path, "echo no such release; exit 3") as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "no such release" in output and "making a root of Debian bookworm: failed" in output
    assert what_is_left(tmp_path) == []


def test_an_ordinary_user_is_told_who_can() -> None:
    words = ["setpriv", "--reuid", "65534", "--clear-groups", "bash", "-s"]
    script = (ROOT / ".ci/bare").read_text()
    done = subprocess.run(words, input=script, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "run .ci/bare as root" in done.stderr
