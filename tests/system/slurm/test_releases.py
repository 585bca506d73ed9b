"""Slurms of other releases, unmodified, each in a root file system made by debootstrap.

Roots are looked for in the folder that SIMUNIX_ROOTS names (default: simunix/roots in the user's cache folder). One of trixie
is made there if it is missing, which takes about a minute; the other releases are tested where somebody has made them.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix

pytestmark = pytest.mark.slow
PACKAGES = ("slurm-wlm", "munge", "python3")
RELEASES = {"bullseye": "slurm 20.11.", "bookworm": "slurm 22.05.", "trixie": "slurm 24.11.", "sid": "slurm 2"}
JOBS = 25


def cache_folder() -> Path:
    """Where roots are kept between runs of the tests."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("SIMUNIX_ROOTS") or Path(cache, "simunix/roots"))


def root_of(simunix: Simunix, release: str) -> Path:
    """The cached root of a release; trixie's is made if need be, else the test is skipped with the reason."""
    root = cache_folder() / release
    if root.exists():
        return root
    if release != "trixie":
        pytest.skip(f"no {root}; make it with: simunix root make {release} {root} {' '.join(PACKAGES)}")
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip(f"no {root}, and making it takes root and debootstrap")
    made = simunix("root", "make", release, root, *PACKAGES, timeout=600)
    if "no network" in made.stderr:
        pytest.skip(made.stderr.strip())
    assert made.returncode == 0, made.stderr
    return root


def run_twice(simunix: Simunix, tmp_path: Path, scenario: str, settings: list[str]) -> Path:
    """Run a scenario with so many jobs twice, both the same; the folder of one of the runs."""
    digests = set()
    for name in ("first", "second"):
        arguments = [argument for setting in settings for argument in ("--set", setting)]
        done = simunix("run", ROOT / "scenarios" / scenario, *arguments, "--out", tmp_path / name, timeout=400)
        assert done.returncode == 0, done.stderr
        digests.add(json.loads((tmp_path / name / "run.json").read_text())["events_sha256"])
    assert len(digests) == 1
    return tmp_path / "first"


@pytest.mark.parametrize("release", RELEASES)
def test_the_demo_with_the_slurm_of(fresh_simunix: Simunix, tmp_path: Path, release: str) -> None:
    root = root_of(fresh_simunix, release)
    out = run_twice(fresh_simunix, tmp_path, "nasa-ipsc.yaml", [f"root={root}", f"workload.max_jobs={JOBS}"])
    record = json.loads((out / "run.json").read_text())
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


def test_the_database_of_another_release(fresh_simunix: Simunix, tmp_path: Path) -> None:
    """In a root that has slurmdbd and MariaDB too."""
    root = cache_folder() / "trixie-slurmdbd"
    if not root.exists():
        packages = " ".join((*PACKAGES, "slurmdbd", "mariadb-server"))
        pytest.skip(f"no {root}; make it with: simunix root make trixie {root} {packages}")
    (tmp_path / "s.yaml").write_text(ACCOUNTING.replace("ROOT", str(root)))
    digests = set()
    for name in ("first", "second"):
        done = fresh_simunix("run", tmp_path / "s.yaml", "--out", tmp_path / name, timeout=100)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name / "hosts/n1/user.out").read_text().endswith("\nphysics|COMPLETED|00:01:00|n[1-4]\n")
        digests.add(json.loads((tmp_path / name / "run.json").read_text())["events_sha256"])
    assert len(digests) == 1


def test_two_releases_side_by_side(fresh_simunix: Simunix, tmp_path: Path) -> None:
    roots = {name: root_of(fresh_simunix, name) for name in ("bullseye", "trixie")}
    settings = [f"hosts[{index}].root={roots['bullseye' if index < 2 else 'trixie']}" for index in range(4)]
    settings += [f"workload[{index}].max_jobs={JOBS}" for index in range(2)]
    out = run_twice(fresh_simunix, tmp_path, "two-releases.yaml", settings)
    record = json.loads((out / "run.json").read_text())
    assert record["rjms"].startswith("slurm 20.11.4, slurm 24.11.")
    assert record["jobs"] == {"COMPLETED": 2 * JOBS}
    with (out / "jobs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert Counter(row["workload_name"].partition("@")[2] for row in rows) == {"old": JOBS, "new": JOBS}
    assert all(row["allocated_hosts"].startswith(row["workload_name"].partition("@")[2]) for row in rows)
