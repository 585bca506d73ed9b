"""An exploration finds what a power cut loses, tells it in its story, and repeats it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.explore.planted import PLANTED

RENAMED = next(planted for planted in PLANTED if planted.name == "renamed_early")


def simunix(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run simunix in a folder."""
    command = [sys.executable, "-m", "simunix.cli.main", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.slow
def test_what_was_not_synced_is_lost_and_the_run_is_repeated(tmp_path: Path) -> None:
    path = RENAMED.scenario(tmp_path)
    done = simunix(tmp_path, "explore", path.name, "-o", "found", "--seeds", "30", "--stop-at-first", "--check-determinism")
    assert done.returncode == 1 and RENAMED.says in done.stdout, done.stdout + done.stderr
    (capsule,) = (tmp_path / "found/failures").iterdir()
    choices = [json.loads(line) for line in (capsule / "choices.jsonl").read_text().splitlines()[1:]]
    assert choices[-1]["place"] == "lose" and "the power cut of a loses" in choices[-1]["what"]
    again = simunix(tmp_path, "replay", str(capsule), "--out", "again")
    assert again.returncode == 0 and "the same run as the capsule's" in again.stdout, again.stdout + again.stderr


@pytest.mark.slow
def test_nothing_is_lost_without_an_exploration(tmp_path: Path) -> None:
    path = RENAMED.scenario(tmp_path)
    event = '[{"at": "9.909s", "host": "a", "state": "off", "duration": "2s"}]'
    done = simunix(tmp_path, "run", path.name, "--out", "plain", "--set", f"events={event}")
    assert done.returncode == 0, done.stdout + done.stderr
