"""One number everywhere, of a real run with jobs of every kind: page, tables, schedule.csv and run.json contain equal
values.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from simunix.metrics.catalog import METRICS
from simunix.metrics.written import is_shown, written
from simunix.report.comparison import Comparison
from simunix.report.page.rows import summary_rows
from simunix.report.run_data import read_run
from simunix.sweep.table import metrics_of
from tests.conftest import Simunix
from tests.system.slurm.test_job_table import CONF
from tests.unit.simunix.metrics.test_one_number import expected

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

JOBS = """JobID,User,Account,Partition,Submit,ElapsedRaw,Timelimit,ReqCPUS,ReqNodes,Gres,Requeue,CancelAfter,State
1,alice,physics,low,0,600,00:20:00,8,1,gpu:2,yes,,
2,bob,chem,low,1,300,00:20:00,8,1,,yes,,
3,carol,chem,high,60,120,00:05:00,8,1,gpu:1,,,
4,dave,chem,low,70,100,00:05:00,16,2,,,30,CANCELLED
5_1,bob,chem,low,80,50,00:05:00,2,1,,,,
5_2,bob,chem,low,80,70,00:05:00,2,1,,,,
6+0,carol,chem,low,90,60,00:05:00,2,1,,,,
6+1,carol,chem,low,90,60,00:05:00,2,1,,,,
7,dave,chem,nokeep,700,400,00:10:00,8,1,,,,
8,alice,physics,high,800,200,00:10:00,16,2,,,,
"""
SUSPENDED = "1 1100 -1 100 2 -1 -1 2 600 -1 1 1 1 -1 1 1 -1 -1\n"
PREEMPTING = """
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
GresTypes=gpu
SlurmdTimeout=60
ReturnToService=2
NodeName=node[1-2] CPUs=8 RealMemory=15000 Gres=gpu:2
PartitionName=low Nodes=node[1-2] Default=YES MaxTime=INFINITE PriorityTier=1
PartitionName=nokeep Nodes=node[1-2] MaxTime=INFINITE PriorityTier=1 PreemptMode=CANCEL
PartitionName=high Nodes=node[1-2] MaxTime=INFINITE PriorityTier=9
"""
SCENARIO = """
hosts:
  - {name: controller, cores: 4, memory: 8GiB}
  - {name: 'node[1-2]', cores: 8, memory: 16GiB, wattage_per_state: '100:120:200', wattage_off: 10}
slurm: {controller: controller, nodes: 'node[1-2]', config: slurm.conf}
workload:
  - {trace: jobs.csv, users: trace, start: 10s}
  - {trace: suspended.swf, profile: suspendable, start: 10s, host: node2}
processes:
  - {name: requeue, host: controller, start: 40s, command: [scontrol, requeue, '2']}
  - {name: suspend, host: controller, start: 1150s, command: [scontrol, suspend, '11']}
  - {name: resume, host: controller, start: 1190s, command: [scontrol, resume, '11']}
events:
  - {at: 400, host: node1, state: off}
  - {at: 420, host: node1, state: on}
stop: workload
until: 2h
"""
ROUNDED_S = 1.0
"""Slurm counts whole seconds, and the client starts 0.25 s earlier or later than in the example computed by hand."""


@pytest.fixture(scope="module")
def folder(simunix: Simunix, tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("mixed")
    own = CONF[: CONF.index("NodeName=")] + PREEMPTING
    files = {"jobs.csv": JOBS, "suspended.swf": SUSPENDED, "s.yaml": SCENARIO, "slurm.conf": own}
    for name, text in {**files, "gres.conf": "Name=gpu File=/dev/nvidia[0-1]\n"}.items():
        (base / name).write_text(text)
    done = simunix("run", base / "s.yaml", "--out", base / "out", timeout=200)
    assert done.returncode == 0, done.stderr
    (base / "terminal.txt").write_text(done.stdout)
    return base / "out"


@pytest.fixture
def told(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_text())["metrics"]
    return found


def test_a_real_run_has_the_metrics_computed_by_hand(told: dict[str, Any]) -> None:
    counts = ("jobs", "finished", "users", "restarts", "preemptions", "lost_core_seconds", "lost_gpu_seconds", "gpu_seconds")
    by_hand = expected()
    assert {name: told[name] for name in counts} == {name: by_hand[name] for name in counts}
    for name in ("mean_waiting_time", "max_waiting_time", "mean_turnaround_time", "makespan"):
        assert told[name] == pytest.approx(by_hand[name], abs=ROUNDED_S), name
    assert told["utilisation"] == pytest.approx(by_hand["utilisation"], rel=1e-3)


def test_every_place_tells_the_number_of_run_json(folder: Path, told: dict[str, Any]) -> None:
    known = {name: value for name, value in told.items() if value is not None}
    assert known["machine_energy"] > known["consumed_energy"] > 0
    assert metrics_of(folder) == known
    page = {row["name"]: row["cells"][0]["text"] for row in summary_rows(Comparison([read_run(folder)]))}
    shown = [metric for metric in METRICS if metric.on_page and is_shown(metric, [told[metric.name]])]
    assert all(page[metric.title] == written(metric, told[metric.name]) for metric in shown)
    terminal = (folder.parent / "terminal.txt").read_text()
    for name in ("mean_waiting_time", "utilisation", "restarts", "lost_core_seconds", "machine_energy"):
        metric = next(metric for metric in METRICS if metric.name == name)
        assert any(metric.title in line and written(metric, told[name]) in line for line in terminal.splitlines()), name
    (schedule,) = csv.DictReader((folder / "schedule.csv").read_text().splitlines())
    for metric in METRICS:
        if metric.batsim:
            assert float(schedule[metric.batsim]) == pytest.approx(told[metric.name], abs=5e-7), metric.name
    jobs = list(csv.DictReader((folder / "jobs.csv").read_text().splitlines()))
    assert sum(float(job["lost_core_seconds"] or 0) for job in jobs) == told["lost_core_seconds"]
    waits = [float(job["waiting_time"]) for job in jobs if job["waiting_time"]]
    assert sum(waits) / len(waits) == pytest.approx(told["mean_waiting_time"], rel=1e-12)


def test_the_meters_of_the_run_agree_with_its_curve_of_power(folder: Path, told: dict[str, Any]) -> None:
    """energy.csv has the whole run, from the start of the hosts to the end; schedule.csv the part from submission to end."""
    rows = list(csv.DictReader((folder / "energy.csv").read_text().splitlines()))
    (total,) = (float(row["joules"]) for row in rows if row["kind"] == "all")
    assert 0 < total - told["machine_energy"] < 2 * 200 * 120  # two minutes of two nodes at most
