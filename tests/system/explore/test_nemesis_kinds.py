"""Faults of single processes: an exploration finds bugs that need them, tells them in its story, and repeats them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.explore.planted import PLANTED, Planted


def simunix(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run simunix in a folder."""
    command = [sys.executable, "-m", "simunix.cli.main", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


def planted(name: str) -> Planted:
    """The planted bug of a name."""
    return next(each for each in PLANTED if each.name == name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "told"),
    [("two_files", "a:two_files is killed, for"), ("paused_holder", ":paused_holder is stopped, for")],
)
def test_the_fault_is_found_told_and_repeated(tmp_path: Path, name: str, told: str) -> None:
    bug = planted(name)
    path = bug.scenario(tmp_path)
    done = simunix(tmp_path, "explore", path.name, "-o", "found", "--seeds", "60", "--stop-at-first", "--minimise", "20s")
    assert done.returncode == 1 and bug.says in done.stdout and told in done.stdout, done.stdout + done.stderr
    (capsule,) = (tmp_path / "found/failures").iterdir()
    assert 1 <= len(json.loads((capsule / "capsule.json").read_text())["events"]) <= 4
    again = simunix(tmp_path, "replay", str(capsule), "--out", "again")
    assert again.returncode == 0 and "the same run as the capsule's" in again.stdout, again.stdout + again.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_files", "paused_holder"])
def test_nothing_is_found_in_the_mended_program(tmp_path: Path, name: str) -> None:
    path = planted(name).scenario(tmp_path, mended=True)
    done = simunix(tmp_path, "explore", path.name, "-o", "found", "--seeds", "12", "--jobs", "2")
    assert done.returncode == 0 and "nothing failed" in done.stdout, done.stdout + done.stderr
