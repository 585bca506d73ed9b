"""Dask's real scheduler and workers, described by a generic list of processes: scenarios/dask.yaml, the same twice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.system.runs import run_twice

pytestmark = pytest.mark.slow


def test_dask_places_tasks_the_same_way_twice(fresh_simunix: Simunix, tmp_path: Path) -> None:
    path = f"environment.PATH={Path(sys.executable).parent}:/usr/bin:/bin"
    ran, _ = run_twice(fresh_simunix, ROOT / "scenarios/dask.yaml", tmp_path, "--set", path)
    assert ran.record["deterministic"]
    *tasks, makespan = ran.output("client", "client").splitlines()
    assert [int(line.split()[0]) for line in tasks] == list(range(20))
    assert {line.split()[1] for line in tasks} == {f"node{index}" for index in range(1, 5)}
    assert 300 <= float(makespan.removeprefix("makespan ")) < 301
