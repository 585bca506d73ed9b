"""The set-up: it finds what is installed whoever calls it, and says what it does while it takes minutes."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
USERS_PATH = "/usr/local/bin:/usr/bin:/bin"
"""As Debian gives it to a user who is not root: without the folders of daemons."""
DAEMONS = {"/usr/sbin/slurmctld": "slurm-wlm", "/usr/sbin/munged": "munge", "/usr/sbin/debootstrap": "debootstrap"}


def missing(path: str) -> list[str]:
    """The packages that the set-up misses with this PATH."""
    command = [ROOT / ".ci/setup", "--missing"]
    done = subprocess.run(command, env={"PATH": path, "HOME": "/"}, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(not any(map(os.path.exists, DAEMONS)), reason=f"not installed: {' '.join(DAEMONS.values())}")
def test_a_user_misses_no_daemon_that_is_installed() -> None:
    installed = {package for program, package in DAEMONS.items() if Path(program).exists()}
    assert installed.isdisjoint(missing(USERS_PATH))
    assert missing(USERS_PATH) == missing(f"{USERS_PATH}:/usr/sbin:/sbin")


def test_what_is_not_installed_is_missing(tmp_path: Path) -> None:
    for name in ("bash", "dirname", "python3"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    (tmp_path / "gcc").touch(mode=0o755)
    text = (ROOT / ".ci/setup").read_text()
    assert "need gcc gcc\n" in text and "need strace strace\n" in text
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci/setup").write_text(text.replace("PATH=$PATH:", "IGNORED=").replace("need strace", "need no-such-program"))
    shutil.copy(ROOT / ".ci/quietly", tmp_path / ".ci")
    command = ["/bin/bash", tmp_path / ".ci/setup", "--missing"]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True)
    assert "strace" in done.stdout.split() and "gcc" not in done.stdout.split()


def quietly(command: str, *, on_terminal: bool) -> tuple[int, str]:
    """The status and the output of a command that `quietly` runs, on a terminal or into a pipe."""
    script = f". .ci/quietly; quietly 'making it (a second)' bash -c '{command}'"
    if not on_terminal:
        done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr
    ours, theirs = pty.openpty()
    with subprocess.Popen(["bash", "-c", script], cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        found = b""
        while part := _read(ours):
            found += part
    os.close(ours)
    return process.returncode, found.decode()


def _read(fd: int) -> bytes:
    """What comes next from a terminal; nothing when all have closed its other end."""
    try:
        return os.read(fd, 4096)
    except OSError:
        return b""


def test_a_terminal_shows_that_it_goes_on() -> None:
    status, shown = quietly("echo compiled 1 of 2; sleep 2.5", on_terminal=True)
    assert status == 0 and shown.startswith("setup: making it (a second)\r\n") and " s  compiled 1 of 2" in shown
    assert shown.endswith("\r\033[K")  # the line is taken away again


def test_a_file_gets_one_line() -> None:
    assert quietly("echo compiled 1 of 2", on_terminal=False) == (0, "setup: making it (a second)\n")


@pytest.mark.parametrize("on_terminal", [True, False])
def test_a_failure_says_why(on_terminal: bool) -> None:
    status, shown = quietly("seq 100; echo no compiler >&2; exit 3", on_terminal=on_terminal)
    assert status == 3 and "no compiler" in shown and "\n100" in shown.replace("\r", "") and "\n5\n" not in shown
