"""Settings that are equal in truth are hardly ever told to differ; `python -m tests.endurance.equal_settings` counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simunix.compare.conclusion import SAME
from simunix.statistics.difference import NO_DIFFERENCE
from tests.endurance.equal_settings import counted

SWEEPS, LEAST = 100, 93


def told(folder: Path, sweeps: int) -> tuple[dict[str, int], dict[str, int]]:
    done = counted(folder, sweeps, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    return found["tables"], found["comparisons"]


@pytest.mark.endurance
def test_equal_settings_are_told_to_be(tmp_path: Path) -> None:
    tables, comparisons = told(tmp_path, SWEEPS)
    assert tables[NO_DIFFERENCE] >= LEAST, tables
    assert comparisons[SAME] >= LEAST, comparisons


@pytest.mark.slow
def test_one_sweep_of_equal_settings(tmp_path: Path) -> None:
    assert told(tmp_path, 1) == ({NO_DIFFERENCE: 1}, {SAME: 1})
