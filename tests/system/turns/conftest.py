"""Fixtures of the tests of turns."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "programs/cpu_limits.c"


@pytest.fixture(scope="module")
def cpu_limits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that computes by making calls; called as its source says."""
    path = tmp_path_factory.mktemp("cpu_limits") / "cpu_limits"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", path, SOURCE, "-pthread"], check=True)
    return path
