"""Suspend/resume (gang) scheduling of real Slurm: jobs of a higher partition stop those of a lower one, and nothing is lost."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from simunix.metrics import logs, series
from simunix.metrics.jobs import read_jobs_csv
from tests.conftest import ROOT, Simunix

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

TRACE = """
1 0 -1 100.3 16 -1 -1 16 600 -1 1 1 1 -1 1 1 -1 -1
2 0 -1 200.3 16 -1 -1 16 600 -1 1 1 1 -1 1 1 -1 -1
3 0 -1 150.3 8 -1 -1 8 600 -1 1 1 1 -1 1 1 -1 -1
4 0 -1 120.3 8 -1 -1 8 600 -1 1 1 1 -1 1 1 -1 -1
5 60.7 -1 50.5 32 -1 -1 32 300 -1 1 1 1 -1 2 1 -1 -1
6 90.2 -1 20.5 4 -1 -1 4 300 -1 1 1 1 -1 2 1 -1 -1
"""
LOW, HIGH = {"1", "2", "3", "4"}, {"5": 32, "6": 4}
SCHEDULER_CYCLE_S = 2.0
"""sched_min_interval of the scenario, which is the thesis'; back-filling comes every 30 s."""
BACKFILL_CYCLE_S = 30.0
SUSPEND_S = 2.0
"""Between SIGTSTP and SIGSTOP (suspend_grace_time)."""
CLUSTER = """
name: tiny
hosts: [{name: head, cores: 4, memory: 8GiB}, {name: 'fnode[1-3]', cores: 16, memory: 64GiB}]
slurm:
  controller: head
  nodes: fnode[1-3]
  parameters: PARAMETERS
  extra: "EXTRA"
workload: {trace: t.swf, profile: suspendable, start: 10s, queues: {2: hig}}
"""


def scenario(folder: Path) -> Path:
    """Three nodes, configured as in scenarios/barberato-suspend.yaml."""
    import yaml

    section = yaml.safe_load((ROOT / "scenarios/barberato-suspend.yaml").read_text())["slurm"]
    extra = section["extra"].replace("fnode[01-16]", "fnode[1-3]").replace("\n", "\\n")
    (folder / "t.swf").write_text(TRACE)
    text = CLUSTER.replace("PARAMETERS", json.dumps(section["parameters"])).replace("EXTRA", extra)
    (folder / "s.yaml").write_text(text)
    return folder / "s.yaml"


class Result:
    """What a run says, with the times of the jobs' own logs; `recorded` has Slurm's."""

    def __init__(self, simunix: Simunix, path: Path, out: Path, *options: object) -> None:
        done = simunix("run", path, "--out", out, *options, timeout=200)
        assert done.returncode == 0, done.stderr
        self.digest = json.loads((out / "run.json").read_text())["events_sha256"]
        self.recorded = read_jobs_csv(out / "jobs.csv").set_index("job_id", drop=False)
        self.logs = logs.read_logs(out)
        self.jobs = logs.with_logged_times(self.recorded, self.logs, out)
        self.away = logs.suspensions(self.jobs, self.logs, out)
        self.working = series.working_processors(self.jobs, self.away)

    def job(self, name: str) -> Any:
        return self.jobs.loc[name]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("suspend")


@pytest.fixture(scope="module")
def suspend(simunix: Simunix, folder: Path) -> Result:
    return Result(simunix, scenario(folder), folder / "suspend")


def runtimes() -> pd.Series:
    """Of the trace, by job."""
    return pd.Series({line.split()[0]: float(line.split()[3]) for line in TRACE.strip().splitlines()})


def test_a_high_job_starts_on_a_full_cluster(suspend: Result) -> None:
    """Within a cycle of the scheduler, although no processor is free."""
    assert set(suspend.recorded["final_state"]) == {"COMPLETED"}
    assert series.busy_processors(suspend.jobs.loc[sorted(LOW)]).max() == 48
    for name in HIGH:
        assert 0 <= suspend.job(name)["starting_time"] - suspend.job(name)["submission_time"] < SCHEDULER_CYCLE_S


def test_enough_processors_are_suspended_and_no_more_than_there_are_work(suspend: Result) -> None:
    for name, needed in HIGH.items():
        begin = suspend.job(name)["starting_time"]
        victims = suspend.away[(suspend.away["begin"] <= begin + 0.01) & (suspend.away["end"] > begin + 0.01)]
        assert set(victims["job_id"]) <= LOW
        assert victims["requested_number_of_resources"].sum() >= needed
    assert suspend.working.max() <= 48


def test_victims_lose_no_run_time(suspend: Result) -> None:
    """End - start = run time + suspensions, by the job's own log and, to its whole seconds, by Slurm's accounting."""
    assert len(suspend.away) >= 2
    elapsed = suspend.jobs["finish_time"] - suspend.jobs["starting_time"]
    expected = runtimes() + suspend.jobs["suspended_time"].fillna(0.0)
    assert (elapsed - expected).abs().max() < 0.1
    recorded = suspend.recorded["finish_time"] - suspend.recorded["starting_time"]
    assert (recorded - expected).abs().max() <= 1.0
    for name in set(suspend.away["job_id"]):
        assert suspend.recorded.loc[name, "execution_time"] == pytest.approx(runtimes()[name], abs=1.0)


def test_who_was_suspended_goes_on_when_no_high_job_runs(suspend: Result) -> None:
    """At once, or when slurmd has done with suspending, which takes it SUSPEND_S."""
    last = max(suspend.job(name)["finish_time"] for name in HIGH)
    assert suspend.away["end"].max() < last + SUSPEND_S + 0.1


def test_twice_the_same(fresh_simunix: Simunix, folder: Path, suspend: Result) -> None:
    assert Result(fresh_simunix, scenario(folder), folder / "again").digest == suspend.digest


def test_under_backfilling_the_cluster_drains_before_a_large_job(simunix: Simunix, folder: Path, suspend: Result) -> None:
    """R12 of the thesis: processors are idle between the submission of the large job and its start."""
    path = scenario(folder)
    path.write_text(path.read_text().replace("FORCE:1", "NO"))
    options = ("--set", 'slurm.parameters.PreemptMode="OFF"', "--set", "slurm.parameters.PreemptType=preempt/none")
    backfill = Result(simunix, path, folder / "backfill", *options)
    assert backfill.working.max() <= 48
    assert backfill.away.empty
    large = backfill.job("5")
    assert large["starting_time"] - large["submission_time"] > BACKFILL_CYCLE_S
    drained = backfill.working[(backfill.working.index >= large["submission_time"])]
    assert drained[drained.index < large["starting_time"]].min() < 48
    begin, end = suspend.job("5")["submission_time"] + SCHEDULER_CYCLE_S, suspend.job("5")["finish_time"] - 0.1
    assert series.mean_over(suspend.working, begin, end) > 44
    conf = (folder / "backfill/hosts/head/files/etc_slurm/slurm.conf").read_text()
    assert re.findall("^Preempt.*", conf, re.MULTILINE) == ["PreemptMode=OFF", "PreemptType=preempt/none"]
