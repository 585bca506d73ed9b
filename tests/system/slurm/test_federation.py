"""A federation of two clusters with one slurmdbd, and slurmrestd: the scenarios that ship, the same twice."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from simunix.rjms.slurm.adapter import SLURM
from simunix.roots.tree import THIS_COMPUTER
from tests.conftest import ROOT, Simunix
from tests.system.runs import Run, run_twice

pytestmark = pytest.mark.slow


def twice(fresh_simunix: Simunix, tmp_path: Path, scenario: str) -> Run:
    ran, _ = run_twice(fresh_simunix, ROOT / "scenarios" / scenario, tmp_path)
    assert ran.record["deterministic"]
    return ran


@pytest.mark.skipif(
    any(shutil.which(program) is None for program in ("slurmdbd", "mariadbd")), reason="needs slurmdbd and mariadb-server"
)
def test_jobs_of_a_federation_run_where_nodes_are_free(fresh_simunix: Simunix, tmp_path: Path) -> None:
    out = twice(fresh_simunix, tmp_path, "federation.yaml").output("east", "client")
    assert "Sibling:    west:10.0.0.3:6817 ID:2 FedState:ACTIVE" in out
    jobs = re.findall(r"^(job\d)\|(\w+)\|(\w+)\|\S+\|\S+\|(\S+)$", out, re.MULTILINE)
    assert sorted(name for name, *_ in jobs) == [f"job{number}" for number in range(1, 9)]
    assert {state for _, _, state, _ in jobs} == {"COMPLETED"}
    places = [(cluster, nodes) for _, cluster, _, nodes in jobs]
    assert places.count(("east", "e[1-2]")) == places.count(("west", "w[1-2]")) == 4


@pytest.mark.skipif(
    shutil.which("slurmrestd") is None or "auth_jwt" not in " ".join(SLURM.plugins(THIS_COMPUTER)),
    reason="needs slurmrestd and slurm-wlm-jwt-plugin",
)
def test_a_job_through_slurmrestd(fresh_simunix: Simunix, tmp_path: Path) -> None:
    out = twice(fresh_simunix, tmp_path, "slurmrestd.yaml").output("node1", "client")
    assert '"ping": "UP"' in out and '"job_id": 1' in out
    assert re.search(r" 1 +batch +by_rest +root +R ", out)
    assert '"job_state": "COMPLETED"' in out
