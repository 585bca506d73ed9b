"""Home folders and crontabs of this computer: hosts of a scenario see their files, and change none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Simunix

HOME = Path.home()
MARK = f".simunix-test-{os.getpid()}"


@pytest.mark.skipif(not os.access(HOME, os.W_OK) or HOME.parts[1:2] not in (("root",), ("home",)), reason="no home folder")
def test_a_host_changes_nothing_at_home(simunix: Simunix, tmp_path: Path) -> None:
    file = HOME / MARK
    file.write_text("mine\n")
    try:
        (tmp_path / "s.yaml").write_text(
            "name: home\nhosts: [{name: 'a[1-2]'}]\nprocesses:\n"
            f"  - {{name: p, host: 'a[1-2]', command: 'cat {file}; hostname >>{file}; cat {file}; echo >{file}-new'}}\n"
        )
        done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "out/hosts/a2/p.out").read_text() == "mine\nmine\na2\n"
        assert file.read_text() == "mine\n"
        assert not Path(f"{file}-new").exists()
    finally:
        for left in HOME.glob(f"{MARK}*"):
            left.unlink()


def test_crontabs_are_the_hosts_own(simunix: Simunix, tmp_path: Path) -> None:
    crontabs = Path("/var/spool/cron/crontabs")
    if not crontabs.is_dir():
        pytest.skip("cron is not installed")
    status = crontabs.stat()
    owner = f"{status.st_mode & 0o7777:o} {status.st_gid}" if os.geteuid() == 0 else f"{status.st_mode & 0o7777:o} 0"
    (tmp_path / "s.yaml").write_text(
        "name: cron\nhosts: [{name: a}]\nprocesses:\n"
        f"  - {{name: p, host: a, command: 'stat -c \"%a %g\" {crontabs}; ls -A {crontabs}; echo x >{crontabs}/root'}}\n"
    )
    before = sorted(os.listdir(crontabs)) if os.geteuid() == 0 else []
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/hosts/a/p.out").read_text() == f"{owner}\n"
    assert (sorted(os.listdir(crontabs)) if os.geteuid() == 0 else []) == before
