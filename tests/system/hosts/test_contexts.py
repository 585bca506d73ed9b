"""Windows of a trace with their context, on real Slurm: restored at T0, or the run is marked INVALID."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from simunix.cli.main import main
from tests.conftest import Simunix

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

HEADER = "; Version: 2.2\n; MaxProcs: 64\n; UnixStartTime: 750000000\n"
CLUSTER = """
name: window
hosts:
  - {name: ctl, cores: 4, memory: 8GiB}
  - {name: 'n[1-4]', cores: 16, memory: 64GiB}
slurm: {controller: ctl, nodes: 'n[1-4]'}
workload: {trace: window.swf, start: 10s}
until: 3h
"""
T0_S = 1000
JOBS = (
    # number, submit, wait, run time, processors, requested time
    (1, 100, 0, 300, 64, 600),  # over before T0
    (2, 500, 0, 900, 32, 1800),  # runs: 400 s are left
    (3, 600, 100, 1200, 16, 1800),  # runs: 900 s are left
    (4, 700, 700, 100, 32, 300),  # waits, and fits when job 2 has ended
    (5, 990, 20, 50, 16, 60),  # waits, fits at once
    (6, 1000, 0, 60, 16, 120),  # replay
    (7, 1100, 0, 60, 8, 120),  # replay
)


def line(number: int, submit: int, wait: int, run: int, size: int, requested: int) -> str:
    return f"{number} {submit} {wait} {run} {size} -1 -1 {size} {requested} -1 1 1 1 -1 1 -1 -1 -1\n"


def run_window(simunix: Simunix, folder: Path, *options: str, jobs: tuple[tuple[int, ...], ...] = JOBS) -> tuple[str, Path]:
    """Cut with context at T0 and run; the terminal, and the run directory."""
    (folder / "trace.swf").write_text(HEADER + "".join(line(*job) for job in jobs))
    window = ["--begin", str(T0_S), "--end", "2000", "--context", *options]
    assert main(["workload", "cut", str(folder / "trace.swf"), str(folder / "window.swf"), *window]) == 0
    (folder / "s.yaml").write_text(CLUSTER)
    done = simunix("run", folder / "s.yaml", "--out", folder / "out", timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr, folder / "out"


def test_a_context_is_there_at_t0(simunix: Simunix, tmp_path: Path) -> None:
    terminal, out = run_window(simunix, tmp_path)
    record = json.loads((out / "run.json").read_text())
    assert record["valid"] is True
    assert record["contexts"] == [
        {"workload": "window.swf", "t0_s": 70.0, "running": [2, 3], "waiting": [4, 5], "established": True, "reasons": []}
    ]
    assert "INVALID" not in terminal
    with (out / "jobs.csv").open() as file:
        rows = {int(row["job_id"]): row for row in csv.DictReader(file)}
    assert {row["final_state"] for row in rows.values()} == {"COMPLETED"}
    t0 = 70.0
    for number, end in ((2, 400), (3, 900)):  # the trace's end dates
        assert float(rows[number]["starting_time"]) < t0
        assert abs(float(rows[number]["finish_time"]) - t0 - end) < 10
    assert float(rows[5]["starting_time"]) >= t0  # held until then
    assert float(rows[4]["starting_time"]) >= float(rows[2]["finish_time"])
    assert float(rows[6]["submission_time"]) == pytest.approx(t0, abs=0.01)
    assert float(rows[7]["submission_time"]) == pytest.approx(t0 + 100, abs=0.01)


def test_a_context_of_a_job_table_is_there_at_t0(simunix: Simunix, tmp_path: Path) -> None:
    head = "JobID,JobName,Submit,Start,ElapsedRaw,Timelimit,ReqCPUS,State,ExitCode\n"
    table = ""
    for number, submit, wait, run, size, requested in JOBS:
        end = "FAILED,3:0" if number == 5 else "COMPLETED,"
        table += f"{number},job {number},{submit},{submit + wait},{run},{-(-requested // 60)},{size},{end}\n"
    (tmp_path / "trace.csv").write_text(head + table)
    window = ["--begin", str(T0_S), "--end", "2000", "--context"]
    assert main(["workload", "cut", str(tmp_path / "trace.csv"), str(tmp_path / "window.csv"), *window]) == 0
    (tmp_path / "s.yaml").write_text(CLUSTER.replace("window.swf", "window.csv"))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=200)
    assert done.returncode == 0, done.stderr
    context = json.loads((tmp_path / "out/run.json").read_text())["contexts"][0]
    assert (context["running"], context["waiting"], context["established"]) == ([2, 3], [4, 5], True), context
    with (tmp_path / "out/jobs.csv").open() as file:
        rows = {int(row["job_id"]): row for row in csv.DictReader(file)}
    assert {number: row["final_state"] for number, row in rows.items()} == {
        **dict.fromkeys((2, 3, 4, 6, 7), "COMPLETED"),
        5: "FAILED",
    }
    assert abs(float(rows[2]["finish_time"]) - 70 - 400) < 10 and float(rows[5]["starting_time"]) >= 70
    assert float(rows[6]["submission_time"]) == pytest.approx(70, abs=0.01)


@pytest.mark.parametrize(
    ("options", "jobs", "reason"),
    [
        (("--settle", "0"), JOBS, "running at T0 expected, not in the queue"),
        ((), (*JOBS[:2], (3, 600, 0, 1200, 64, 1800), *JOBS[3:]), "job 3: running at T0 expected, pending"),
    ],
    ids=["too-early", "too-large"],
)
def test_a_context_that_is_not_there_makes_the_run_invalid(
    simunix: Simunix, tmp_path: Path, options: tuple[str, ...], jobs: tuple[tuple[int, ...], ...], reason: str
) -> None:
    terminal, out = run_window(simunix, tmp_path, *options, jobs=jobs)
    record = json.loads((out / "run.json").read_text())
    assert record["valid"] is False
    assert not record["contexts"][0]["established"]
    assert any(reason in one for one in record["contexts"][0]["reasons"]), record["contexts"]
    assert "INVALID: the context of window.swf was not established: job" in terminal
    assert reason in terminal
