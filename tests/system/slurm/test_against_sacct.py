"""A cluster's own sacct as the site's accounting: a scenario made from that text starts its jobs when the cluster did."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.needs import with_database
from tests.system.slurm.test_accounting import SMALL, run

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
# Four nodes of 16 cores: a job of all, an array behind it of which each element takes a node and a half, one job of all, a
# small one that fits beside the array's last element, and one that is cancelled while it waits.
SCRIPT = """
s='sbatch -o /dev/null'
$s -n64 -t 3 --wrap 'sleep 100'; sleep 5
$s --array=1-3 -n24 -t 3 --wrap 'sleep 60'; sleep 2
$s -n64 -t 2 --wrap 'sleep 30'; $s -n4 -t 1 --wrap 'sleep 30'; $s -n64 -t 2 --wrap 'sleep 30'
sleep 20; scancel 5; sleep 500
TZ=UTC sacct -a -X -P -o JobID,User,Account,Partition,QOS,Submit,Start,End,TimelimitRaw,AllocCPUS,ReqCPUS,State
"""
MODEL = """
name: model
hosts: [{name: ctl, cores: 4}, {name: 'n[1-4]', cores: 16, sockets: 2}]
slurm: {controller: ctl, nodes: 'n[1-4]'}
workload: {trace: jobs.swf, start: 30s}
"""


@with_database
def test_a_scenario_made_from_sacct_starts_its_jobs_when_the_site_did(simunix: Simunix, tmp_path: Path) -> None:
    out = run(simunix, tmp_path, SMALL.replace("UNTIL", "12min"), SCRIPT)
    lines = [line for line in (out / "hosts/ctl/user.out").read_text().splitlines() if "|" in line]
    assert [line.partition("|")[0] for line in lines] == ["JobID", "1", "2_1", "2_2", "2_3", "3", "4", "5"]
    (tmp_path / "sacct.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "model.yaml").write_text(MODEL)
    assert simunix("workload", "convert", tmp_path / "sacct.txt", tmp_path / "jobs.swf").returncode == 0
    done = simunix(
        "compare", tmp_path / "model.yaml", "--against", tmp_path / "sacct.txt", "-o", tmp_path / "compare",
        "--set", "one after the other:", "slurm.parameters.SchedulerType=sched/builtin", timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "jobs that started in both 6 6" in told, done.stdout
    with (tmp_path / "compare/errors.csv").open() as file:
        errors = [row for row in csv.DictReader(file) if row["error"]]
    base = [float(row["error"]) for row in errors if row["run"] == "base"]
    sizes = sorted(map(abs, base))
    assert sizes[3] <= 3 and sizes[-1] <= 10, base  # how soon schedulers look depends on what else there is to do
    assert {row["qos"] for row in errors} == {"normal"} and {row["partition"] for row in errors} == {"batch"}
    assert any(line.startswith("starts within 1 min 100.0%") for line in told)
