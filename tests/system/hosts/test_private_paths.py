"""Private paths keep the owner and the mode of what they stand for, and on request its content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Simunix

AS_ROOT = os.geteuid() == 0


def run(simunix: Simunix, tmp_path: Path, private: str, command: str) -> str:
    """What a command on a host with private paths prints."""
    (tmp_path / "s.yaml").write_text(
        f"name: private\nhosts: [{{name: 'a[1-2]', private: [{private}]}}]\n"
        f"processes: [{{name: p, host: 'a[1-2]', command: '{command}'}}]\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    outputs = {(tmp_path / f"out/hosts/{host}/p.out").read_text() for host in ("a1", "a2")}
    assert len(outputs) == 1, outputs
    return outputs.pop()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a daemon, with content."""
    made = tmp_path / "daemon"
    (made / "sub").mkdir(parents=True)
    (made / "sub" / "settings").write_text("some\n")
    (made / "sub" / "link").symlink_to("settings")
    (made / "sub" / "settings").chmod(0o640)
    if AS_ROOT:
        os.chown(made / "sub" / "settings", 2, 3)
        os.chown(made, 1, 3)
    made.chmod(0o2750)
    return made


def test_owner_and_mode_are_the_originals(simunix: Simunix, tmp_path: Path, folder: Path) -> None:
    output = run(simunix, tmp_path, str(folder), f'stat -c "%a %u %g" {folder}; ls -A {folder}')
    assert output == ("2750 1 3\n" if AS_ROOT else "2750 0 0\n")


def test_content_may_be_copied(simunix: Simunix, tmp_path: Path, folder: Path) -> None:
    settings = folder / "sub/link"
    command = f'cat {settings}; stat -Lc "%a %u %g" {settings}; echo more >{settings}; cat {settings}; stat -c %a {folder}'
    output = run(simunix, tmp_path, f"{{path: {folder}, content: copy}}", command)
    assert output == ("some\n640 2 3\nmore\n2750\n" if AS_ROOT else "some\n640 0 0\nmore\n2750\n")
    assert settings.read_text() == "some\n"


def test_a_path_that_does_not_exist_is_an_ordinary_folder(simunix: Simunix, tmp_path: Path) -> None:
    assert run(simunix, tmp_path, "/var/lib/none/such", "stat -c %a /var/lib/none/such") == "755\n"


def test_what_is_to_be_copied_must_exist(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("hosts: [{name: a, private: [{path: /var/lib/none, content: copy}]}]\nprocesses: []\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "private path /var/lib/none: no such folder in / to copy" in done.stderr


@pytest.mark.parametrize("wrong", ["relative", "/", "{path: relative}", "{path: /x, content: some}", "3"])
def test_wrong_paths_are_refused(simunix: Simunix, tmp_path: Path, wrong: str) -> None:
    (tmp_path / "s.yaml").write_text(f"hosts: [{{name: a, private: [{wrong}]}}]\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode != 0
    assert "hosts[0].private[0]" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
