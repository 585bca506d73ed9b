"""A sweep whose factor is the RJMS: one workload on real Slurm and on real Grid Engine, each twice, compared job by job."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.rjms.test_gridengine import GRIDENGINE
from tests.system.rjms.workloads import JOBS, write_trace

pytestmark = [pytest.mark.slow, pytest.mark.slurm]
SCENARIO = """
name: both
seed: 1
hosts: [{name: 'm,l', cores: 4, memory: 8GiB}, {name: 'n[1-4]', cores: 4, memory: 8GiB}]
slurm: {controller: m, login: l, nodes: 'n[1-4]'}
workload: {trace: small.swf, start: 30s}
"""
EXPERIMENT = """
scenario: both.yaml
factors:
  rjms:
    slurm: {{}}
    gridengine:
      slurm: null
      gridengine: {{controller: m, login: l, nodes: 'n[1-4]', scheduler: {{flush_submit_sec: 1, flush_finish_sec: 1}}}}
      root: {root}
seeds: [1, 1]
"""


def test_one_workload_on_two_rjmss(simunix: Simunix, tmp_path: Path) -> None:
    write_trace(tmp_path, JOBS)
    (tmp_path / "both.yaml").write_text(SCENARIO)
    (tmp_path / "e.yaml").write_text(EXPERIMENT.format(root=GRIDENGINE.made(simunix)))
    done = simunix("sweep", tmp_path / "e.yaml", "-o", tmp_path / "out", timeout=500)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out/results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["rjms"] for row in rows] == ["slurm", "slurm", "gridengine", "gridengine"]
    assert [row["rjms_release"].split()[0] for row in rows] == [row["rjms"] for row in rows]
    assert {(row["jobs"], row["finished"]) for row in rows} == {(str(len(JOBS)),) * 2}
    assert rows[0]["digest"] == rows[1]["digest"] != rows[2]["digest"] == rows[3]["digest"]
    folders = [tmp_path / "out/runs" / row["run"] for row in rows[::2]]
    compared = simunix("compare", *folders, "-o", tmp_path / "compare")
    assert compared.returncode == 0, compared.stderr
    with (tmp_path / "compare/changes.csv").open() as file:
        changes = list(csv.DictReader(file))
    assert sorted(int(row["job_id"]) for row in changes) == [job.number for job in JOBS]
    assert {row["fate"] for row in changes} <= {"earlier", "later", "same"}, "every job starts on both"
