"""Several clusters in one scenario: each has its own hosts, configuration and jobs; what does not fit together is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import run_twice

TRACE = """
; UnixStartTime: 0
1 0 -1 100 4 -1 -1 4 200 -1 1 1 1 -1 1 -1 -1 -1
2 0 -1 50 8 -1 -1 8 60 -1 1 1 1 -1 1 -1 -1 -1
3 5 -1 10 65 -1 -1 65 60 -1 1 1 1 -1 1 -1 -1 -1
4 9.5 -1 300 8 -1 -1 8 60 -1 1 1 1 -1 1 -1 -1 -1
"""
HOSTS = "name: two\nhosts: [{name: 'a,a[1-2],b,b[1-2]', cores: 8}]\n"
CLUSTERS = "slurm:\n  - {cluster: left, controller: a, nodes: 'a[1-2]'}\n  - {cluster: right, controller: b, nodes: 'b[1-2]'}\n"
WORKLOADS = "workload:\n  - {trace: t.swf, cluster: left}\n  - {trace: t.swf, host: b1, start: 12s}\n"


@pytest.mark.slurm
@pytest.mark.slow
def test_two_clusters_side_by_side(fresh_simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "t.swf").write_text(TRACE)
    (tmp_path / "s.yaml").write_text(HOSTS + CLUSTERS + WORKLOADS)
    ran, _ = run_twice(fresh_simunix, tmp_path / "s.yaml", tmp_path, timeout=100)
    for label, nodes, start in (("t.swf@left", {"a1", "a2"}, 10), ("t.swf@right", {"b1", "b2"}, 12)):
        of_cluster = {row["job_id"]: row for row in ran.rows if row["workload_name"] == label}
        states = {number: row["final_state"] for number, row in of_cluster.items()}
        assert states == {"1": "COMPLETED", "2": "COMPLETED", "3": "REJECTED", "4": "TIMEOUT"}
        assert {row["allocated_hosts"] for row in of_cluster.values()} - {""} <= nodes
        assert start <= float(of_cluster["1"]["submission_time"]) < start + 1


@pytest.mark.slow
@pytest.mark.slurm
def test_a_workload_may_end_before_the_run(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "t.swf").write_text(TRACE)
    (tmp_path / "s.yaml").write_text(
        "name: one\nhosts: [{name: 'a,a[1-2]', cores: 8}]\nslurm: {controller: a, nodes: 'a[1-2]'}\n"
        "workload: {trace: t.swf}\nstop: time\nuntil: 1h\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=100)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out/run.json").read_text())
    assert (record["virtual_s"], record["jobs"]["COMPLETED"], record["rjms"]) == (
        3600,
        2,
        f"slurm {record['roots'][0]['slurm']}",
    )


LEFT = "slurm:\n  - {cluster: left, controller: a, nodes: 'a[1-2]'}\n"
BAD = {
    "key of one": ("slurm: {controller: a, nods: a1}\n", "s.yaml:3: slurm.nodes: missing"),
    "key of a list": ("slurm: [{controller: a, nodes: a1, kluster: x}]\n", "slurm[0].kluster: unknown key; did you mean"),
    "same name": (
        LEFT + "  - {cluster: left, controller: b, nodes: b1}\n",
        "slurm[1].cluster: 'left' is another cluster's name",
    ),
    "same host": (LEFT + "  - {controller: b, nodes: 'a1,b1'}\n", "slurm[1]: host a1 belongs to cluster 'left' already"),
    "unknown host": ("slurm: {controller: zz, nodes: a1}\n", "slurm: host 'zz' is not among the hosts of the scenario"),
    "which cluster": (
        CLUSTERS + "workload: {trace: t.swf}\n",
        "workload.cluster: missing, and there are several; choose one of left, right",
    ),
    "unknown cluster": (CLUSTERS + "workload: {trace: t.swf, cluster: up}\n", "workload.cluster: 'up' is no cluster"),
    "host of another": (
        CLUSTERS + "workload: {trace: t.swf, cluster: left, host: b}\n",
        "workload.host: 'b' has no Slurm; choose",
    ),
    "host twice": (
        LEFT + "workload: [{trace: t.swf}, {trace: t.swf}]\n",
        "workload[1].host: a submits a workload already; choose another host of left",
    ),
}


@pytest.mark.slurm
@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_one_line(simunix: Simunix, tmp_path: Path, name: str) -> None:
    text, words = BAD[name]
    (tmp_path / "t.swf").write_text(TRACE)
    (tmp_path / "s.yaml").write_text(HOSTS + text)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.strip().count("\n") == 0
