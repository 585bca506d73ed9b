"""The files that Batsim's own tools read in a run's folder, and the run as SWF."""

from __future__ import annotations

import csv
import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.metrics.jobs import read_jobs_csv
from simunix.report.batsim_files import STATES, frame, machine_states, schedule
from simunix.report.run_data import read_run
from simunix.results.as_trace import read_trace
from tests.unit.simunix.report import runs

EVALYS = """
import sys, matplotlib
matplotlib.use("Agg")
from evalys.jobset import JobSet
from evalys.mstates import MachineStatesChanges
from evalys.visu.legacy import plot_gantt
folder = sys.argv[1]
jobs = JobSet.from_csv(folder + "/jobs.csv", resource_bounds=(0, 127))
states = MachineStatesChanges(folder + "/machine_states.csv")
jobs.plot(with_details=True)
matplotlib.pyplot.savefig(folder + "/evalys.png")
print(len(jobs.df), jobs.MaxProcs, round(jobs.mean_utilisation(), 9), states.df.total.iloc[0], int(jobs.utilisation.load.max()))
"""


def of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_machine_states_add_up_and_follow_the_jobs(tmp_path: Path) -> None:
    folder = runs.write_run(tmp_path / "r", runs.rows(40, 8), 8)
    rows = of(folder / "machine_states.csv")
    assert tuple(rows[0]) == ("time", *STATES)
    assert all(sum(int(row[name]) for name in STATES) == 128 for row in rows)
    assert rows[0]["nb_idle"] == "128" and rows[-1]["nb_idle"] == "128"
    assert float(rows[-1]["time"]) == max(float(row["finish_time"]) for row in of(folder / "jobs.csv"))


def test_schedule_of_two_jobs(tmp_path: Path) -> None:
    jobs = [
        runs.ran(1, 0.0, 0.0, 10.0, "node0001", cores=2),
        runs.ran(2, 5.0, 10.0, 30.0, "node0001", cores=1, state="TIMEOUT"),
        replace(runs.waiting(3, 6.0, cores=9), final_state="REJECTED"),
    ]
    row = schedule(read_run(runs.write_run(tmp_path / "r", jobs, 1, cores=4)), 1.5)
    expected = {
        "makespan": 30.0,
        "mean_waiting_time": 2.5,
        "max_slowdown": 1.25,
        "nb_jobs": 3,
        "nb_jobs_finished": 2,
        "nb_jobs_killed": 1,
        "nb_jobs_rejected": 1,
        "success_rate": 1 / 3,
        "time_computing": 40.0,
        "time_idle": 80.0,
    }
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert [row["nb_computing"] for row in machine_states(frame(jobs), 4)] == [2, 1, 0]


def test_a_start_before_the_submission_by_less_than_a_second_is_slurms_resolution() -> None:
    assert frame([runs.ran(1, 5.4, 5.0, 15.0, "node0001", cores=2)])["submission_time"].tolist() == [5.0]


@pytest.mark.slow
def test_evalys_reads_and_plots_the_files_unchanged(tmp_path: Path) -> None:
    if importlib.util.find_spec("evalys") is None:
        pytest.skip("evalys is not installed; pip install evalys")
    folder = runs.write_run(tmp_path / "r", [*runs.rows(40, 8), runs.waiting(41, 300.0)], 8)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", EVALYS, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, procs, mean, total, most = done.stdout.split()
    jobs = read_jobs_csv(folder / "jobs.csv").dropna(subset=["finish_time"])
    area = (jobs["execution_time"] * jobs["allocated_cores"]).sum()
    span = jobs["finish_time"].max() - jobs["starting_time"].min()
    assert (int(count), int(procs), int(total)) == (41, 128, 128) and int(most) <= 128
    assert float(mean) == pytest.approx(area / span)
    assert (folder / "evalys.png").stat().st_size > 10_000


def test_a_run_becomes_a_trace_with_its_provenance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = [*runs.rows(20, 4), runs.skipped(21), runs.waiting(22, 99.0, cores=64)]
    folder = runs.write_run(tmp_path / "r", jobs, 4)
    record = json.loads((folder / "run.json").read_text()) | {"name": "evil\n; MaxJobs: 7", "epoch_s": 752918403.0}
    (folder / "run.json").write_text(json.dumps(record))
    assert main(["workload", "convert", str(folder), str(tmp_path / "r.swf.gz")]) == 0
    assert "21 jobs of 21" in capsys.readouterr().out
    trace = read_trace(tmp_path / "r.swf.gz")
    assert trace.header["MaxJobs"] == "21" and trace.header["MaxProcs"] == "64" and trace.header["UnixStartTime"] == "752918403"
    assert any("1 jobs were not submitted" in comment for comment in trace.comments)
    last = next(record for record in trace.records if record.job == 22)
    assert (last.wait_s, last.runtime_s, last.allocated, last.requested, last.status) == (-1, -1, -1, 64, 0)
    first = trace.records[0]
    assert (first.submit_s, first.wait_s, first.runtime_s) == (
        jobs[0].submission_time,
        jobs[0].waiting_time,
        jobs[0].execution_time,
    )


@pytest.mark.parametrize("make", [lambda path: None, lambda path: (path / "jobs.csv").write_text("a,b\n1,2\n")])
def test_a_folder_that_is_no_run_is_one_line(tmp_path: Path, make: object) -> None:
    make(tmp_path)  # type: ignore[operator]
    with pytest.raises(SimunixError, match=r"jobs\.csv") as caught:
        read_trace(tmp_path)
    assert "\n" not in str(caught.value)
