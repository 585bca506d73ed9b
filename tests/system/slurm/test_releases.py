"""Slurms of other releases, unmodified, each in a root file system made by debootstrap.

A root of trixie is made if it is missing, which takes about a minute; the other releases are tested where somebody has made
their roots (tests/roots.py says where).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.roots import KeptRoot
from tests.system.runs import run_twice

pytestmark = pytest.mark.slow
PACKAGES = ("slurm-wlm", "munge", "python3")
RELEASES = {"bullseye": "slurm 20.11.", "bookworm": "slurm 22.05.", "trixie": "slurm 24.11.", "sid": "slurm 2"}
JOBS = 25


def root_of(simunix: Simunix, release: str) -> Path:
    """The kept root of a release; trixie's is made if need be, else the test is skipped with the reason."""
    root = KeptRoot(release, release, PACKAGES)
    return root.made(simunix) if release == "trixie" else root.found()


def settings(*assignments: str) -> list[str]:
    return [word for assignment in assignments for word in ("--set", assignment)]


@pytest.mark.parametrize("release", RELEASES)
def test_the_demo_with_the_slurm_of(fresh_simunix: Simunix, tmp_path: Path, release: str) -> None:
    root = root_of(fresh_simunix, release)
    words = settings(f"root={root}", f"workload.max_jobs={JOBS}")
    ran, _ = run_twice(fresh_simunix, ROOT / "scenarios/nasa-ipsc.yaml", tmp_path, *words, timeout=400)
    record = ran.record
    assert record["jobs"] == {"COMPLETED": JOBS}
    assert record["rjms"].startswith(RELEASES[release])
    assert [(entry["path"], entry["slurm"]) for entry in record["roots"]] == [(str(root), record["rjms"].split()[1])]


ACCOUNTING = """
name: accounting
root: ROOT
hosts: [{name: 'ctl,dbd', cores: 4}, {name: 'n[1-4]', cores: 4}]
slurm:
  controller: ctl
  nodes: n[1-4]
  accounting_storage_type: slurmdbd
  accounting_storage_host: dbd
  accounting_storage_enforce: associations
  sacctmgr: [add account physics, add user root Account=physics]
stop: time
until: 150s
processes:
  - {name: user, host: n1, start: 10s, command: 'sbatch -A physics -o /dev/null -N4 --wrap "sleep 60"; sleep 100;
     sacct -X -n -P -o Account,State,Elapsed,NodeList'}
"""


@pytest.mark.parametrize("release", ["bullseye", "trixie"])
def test_the_database_of_another_release(fresh_simunix: Simunix, tmp_path: Path, release: str) -> None:
    """In a root that has slurmdbd and MariaDB too. MariaDB 10.5 of bullseye needs an option, else no two runs are equal."""
    root = KeptRoot(f"{release}-slurmdbd", release, (*PACKAGES, "slurmdbd", "mariadb-server")).found()
    (tmp_path / "s.yaml").write_text(ACCOUNTING.replace("ROOT", str(root)))
    for ran in run_twice(fresh_simunix, tmp_path / "s.yaml", tmp_path, timeout=100):
        assert ran.output("n1", "user").endswith("\nphysics|COMPLETED|00:01:00|n[1-4]\n")


def test_two_releases_side_by_side(fresh_simunix: Simunix, tmp_path: Path) -> None:
    roots = {name: root_of(fresh_simunix, name) for name in ("bullseye", "trixie")}
    on_hosts = (f"hosts[{index}].root={roots['bullseye' if index < 2 else 'trixie']}" for index in range(4))
    words = settings(*on_hosts, *(f"workload[{index}].max_jobs={JOBS}" for index in range(2)))
    ran, _ = run_twice(fresh_simunix, ROOT / "scenarios/two-releases.yaml", tmp_path, *words, timeout=400)
    record, rows = ran.record, ran.rows
    assert record["rjms"].startswith("slurm 20.11.4, slurm 24.11.")
    assert record["jobs"] == {"COMPLETED": 2 * JOBS}
    assert Counter(row["workload_name"].partition("@")[2] for row in rows) == {"old": JOBS, "new": JOBS}
    assert all(row["allocated_hosts"].startswith(row["workload_name"].partition("@")[2]) for row in rows)
