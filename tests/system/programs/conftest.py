"""Scenarios of whole programs of the distribution: run twice, with the same event log."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import require
from tests.system import runs
from tests.system.runs import Run

RunTwice = Callable[..., Run]
Needs = Callable[..., None]


@pytest.fixture
def needs() -> Needs:
    """`needs("nginx", "curl")` skips the test, saying which Debian packages are missing."""
    return require


def open_to_everybody(folder: Path) -> None:
    """Let other users into a folder of a test, which pytest keeps to its own user: into all folders above it as well."""
    for each in (folder, *folder.parents):
        if each.stat().st_uid != os.geteuid() or each.parent == Path("/"):
            break
        each.chmod(0o755)


@pytest.fixture
def run_twice(fresh_simunix: Simunix, tmp_path: Path) -> RunTwice:
    """Run a scenario's text twice; both must succeed, without an unknown call, and leave the same event log."""

    def run(scenario: str) -> Run:
        (tmp_path / "s.yaml").write_text(scenario)
        first, second = runs.run_twice(fresh_simunix, tmp_path / "s.yaml", tmp_path)
        assert (first.record["unknown_calls"], second.record["unknown_calls"]) == ({}, {})
        return second

    return run
