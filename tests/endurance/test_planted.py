"""Planted bugs are found by exploration, and nothing is found in their mended twins."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import needs
from tests.system.explore.planted import PLANTED, Planted

MENDED_SEEDS = 100
CASES = [
    pytest.param(planted, id=planted.name, marks=needs("go") if planted.file.endswith(".go") else ()) for planted in PLANTED
]


def explore(path: Path, seeds: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Explore a scenario in its folder."""
    command = [sys.executable, "-m", "simunix.cli.main", "explore", path.name, "-o", "found", "--seeds", str(seeds), *words]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=900, check=False)


@pytest.mark.endurance
@pytest.mark.parametrize("planted", CASES)
def test_a_planted_bug_is_found(planted: Planted, tmp_path: Path) -> None:
    done = explore(planted.scenario(tmp_path), planted.seeds, "--stop-at-first", "--minimise", "30s")
    assert done.returncode == 1 and planted.says in done.stdout, done.stdout + done.stderr


@pytest.mark.endurance
@pytest.mark.parametrize("planted", CASES)
def test_nothing_is_found_in_the_mended_twin(planted: Planted, tmp_path: Path) -> None:
    done = explore(planted.scenario(tmp_path, mended=True), MENDED_SEEDS)
    assert done.returncode == 0, done.stdout + done.stderr
