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
    [
        ("two_files", "a:two_files is killed, for"),
        ("paused_holder", ":paused_holder is stopped, for"),
        ("stopped_poller", "a:stopped_poller is stopped, for"),
    ],
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


DRIFTS = """\
name: drifts
epoch: 2000-01-01T00:00:00Z
hosts: [{name: a}]
processes: [{name: reader, host: a, command: [PYTHON, reader.py], directory: PWD}]
nemesis: {faults: [drift], start: 1s, every: 3s, heal: 20s}
check: [{name: steady, never: behind}, {name: right, eventually: right at the end}]
"""
READER = """\
import time
begin = time.time() - time.monotonic()
for _ in range(25):
    time.sleep(1)
    ahead = time.time() - time.monotonic() - begin
    if ahead < -0.0005:
        print("behind", flush=True)
print("right at the end" if abs(ahead) < 1e-6 else "wrong at the end")
"""


@pytest.mark.slow
def test_a_clock_drifts_and_is_right_after_heal(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text(READER)
    (tmp_path / "drifts.yaml").write_text(DRIFTS.replace("PYTHON", sys.executable).replace("PWD", str(tmp_path)))
    done = simunix(tmp_path, "explore", "drifts.yaml", "-o", "found", "--seeds", "12", "--minimise", "20s", "--jobs", "2")
    assert "check: check-steady" in done.stdout and "the wall clock of a drifts by -" in done.stdout, done.stdout + done.stderr
    assert "check-right" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_files", "paused_holder", "stopped_poller"])
def test_nothing_is_found_in_the_mended_program(tmp_path: Path, name: str) -> None:
    path = planted(name).scenario(tmp_path, mended=True)
    done = simunix(tmp_path, "explore", path.name, "-o", "found", "--seeds", "12", "--jobs", "2")
    assert done.returncode == 0 and "nothing failed" in done.stdout, done.stdout + done.stderr
