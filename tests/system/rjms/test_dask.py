"""Dask's real scheduler and workers, described by a generic list of processes: scenarios/dask.yaml, the same twice."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix

pytestmark = pytest.mark.slow


def test_dask_places_tasks_the_same_way_twice(fresh_simunix: Simunix, tmp_path: Path) -> None:
    path = f"environment.PATH={Path(sys.executable).parent}:/usr/bin:/bin"
    records = []
    for name in ("first", "second"):
        done = fresh_simunix("run", ROOT / "scenarios/dask.yaml", "--set", path, "--out", tmp_path / name, timeout=300)
        assert done.returncode == 0, done.stderr
        records.append(json.loads((tmp_path / name / "run.json").read_text()))
    assert records[0]["events_sha256"] == records[1]["events_sha256"] and records[0]["deterministic"]
    *tasks, makespan = (tmp_path / "first/hosts/client/client.out").read_text().splitlines()
    assert [int(line.split()[0]) for line in tasks] == list(range(20))
    assert {line.split()[1] for line in tasks} == {f"node{index}" for index in range(1, 5)}
    assert 300 <= float(makespan.removeprefix("makespan ")) < 301
