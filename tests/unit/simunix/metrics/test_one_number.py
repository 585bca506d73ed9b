"""Every metric of a run is one number, wherever it is told: computed by hand here, for jobs of every kind that Slurm recorded.

The records are those of Slurm 22.05 in tests/system/slurm/test_one_number.py: job 1 loses its node and is preempted by job 10,
2 is requeued by root, 4 is cancelled before its start, 5 and 6 are elements of an array, 7 and 8 components of a heterogeneous
job, 9 is preempted for good, 11 is suspended for 40 s.
"""

from __future__ import annotations

import csv
import html
import re
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simunix.app.summary import figures
from simunix.cli.main import main
from simunix.metrics.catalog import BY_NAME, METRICS, Metric
from simunix.metrics.energy import energy_between
from simunix.metrics.series import queued_jobs, queued_processors
from simunix.metrics.written import is_shown, written
from simunix.report.comparison import Comparison
from simunix.report.drawing import draw_shares
from simunix.report.page.rows import summary_rows
from simunix.report.run_data import read_run
from simunix.results.jobs_csv import JobRow, Recorded, Submission, make_rows
from simunix.results.run_json import RunRecord, read_record
from simunix.rjms.slurm.accounting import parse_jobcomp
from simunix.rjms.slurm.clients import CLIENTS
from simunix.sweep.analysis.estimates import estimates
from simunix.sweep.analysis.figures import _boxes, _means
from simunix.sweep.analysis.files import write_files
from simunix.sweep.analysis.settings import settings_of
from simunix.sweep.runs import Run
from simunix.sweep.table import DONE, metrics_of, write_table
from simunix.workload.job import Job
from simunix.workload.request import Request
from tests.unit.simunix.report import runs

RECORDS = """
2 bob PENDING 00:00:11 00:00:40 node2 8 00:00:11
4 dave CANCELLED 00:01:50 00:01:50 (null) 16 00:01:20
3 carol COMPLETED 00:01:10 00:03:10 node2 8 00:01:10
1 alice NODE_FAIL 00:00:11 00:07:01 node1 8 00:00:10
8 bob COMPLETED 00:07:01 00:07:51 node1 2 00:01:30 ArrayJobId=5 ArrayTaskId=1
2 bob COMPLETED 00:03:11 00:08:11 node2 8 00:00:40
5 bob COMPLETED 00:07:01 00:08:11 node1 2 00:01:30 ArrayJobId=5 ArrayTaskId=2
6 carol COMPLETED 00:08:31 00:09:31 node1 2 00:01:40 HetJobId=6 HetJobOffset=0
7 carol COMPLETED 00:08:31 00:09:31 node2 2 00:01:40 HetJobId=6 HetJobOffset=1
9 dave PREEMPTED 00:11:50 00:13:30 node2 8 00:11:50
1 alice PREEMPTED 00:09:32 00:13:30 node1 8 00:07:01
10 alice COMPLETED 00:13:30 00:16:50 node[1-2] 16 00:13:30
11 root COMPLETED 00:18:30 00:20:50 node2 2 00:18:30
1 alice COMPLETED 00:16:51 00:26:51 node1 8 00:13:30
"""
"""Of each run of a job: number, user, state, start, end, nodes, cores, the submission that Slurm says, and more."""
EARLY_S = 0.25
"""How long after a whole second the clients were started; Slurm cuts this off."""


@dataclass(frozen=True)
class Hand:
    """A job as one would note it by hand: submission a, last start s, end c, run time r, in seconds; cores b; user."""

    a: float
    s: float
    c: float
    r: float
    b: int
    user: str


HAND = [
    Hand(10.25, 1011, 1611, 600, 8, "alice"),
    Hand(11.25, 191, 491, 300, 8, "bob"),
    Hand(70, 70, 190, 120, 8, "carol"),  # submitted at 70.25, started at 70 for Slurm: it did not wait
    Hand(90.25, 421, 471, 50, 2, "bob"),
    Hand(90.25, 421, 491, 70, 2, "bob"),
    Hand(100.25, 511, 571, 60, 2, "carol"),
    Hand(100.25, 511, 571, 60, 2, "carol"),
    Hand(710, 710, 810, 100, 8, "dave"),
    Hand(810, 810, 1010, 200, 16, "alice"),
    Hand(1110, 1110, 1250, 100, 2, "root"),
]
"""The jobs that ran. Job 4, which was cancelled while it waited, has no start, no wait and no end."""
SUBMITTED = {1: 10, 2: 11, 3: 70, 4: 80, 5: 90, 6: 90, 7: 100, 8: 100, 9: 710, 10: 810, 11: 1110}
NUMBERS = {5: "5_1", 6: "5_2", 7: "6", 8: "7"}
SIZES = {1: 8, 2: 8, 3: 8, 4: 16, 5: 2, 6: 2, 7: 2, 8: 2, 9: 8, 10: 16, 11: 2}
GPUS = {1: "gpu:2", 3: "gpu:1"}


def jain(values: list[float]) -> float:
    return sum(values) ** 2 / (len(values) * sum(one**2 for one in values))


def by_user(values: list[float]) -> list[float]:
    names = dict.fromkeys(hand.user for hand in HAND)
    return [statistics.mean(one for one, hand in zip(values, HAND, strict=True) if hand.user == name) for name in names]


def expected() -> dict[str, float]:
    """Every metric of the catalogue but the delay and the joules, which no note of moments tells, by its formula."""
    waits = [hand.s - hand.a for hand in HAND]
    turnarounds = [hand.c - hand.a for hand in HAND]
    slowdowns = [turn / hand.r for turn, hand in zip(turnarounds, HAND, strict=True)]
    bounded = [max(1, turn / max(hand.r, 10)) for turn, hand in zip(turnarounds, HAND, strict=True)]
    scaled = [max(1, turn / (hand.b * max(hand.r, 10))) for turn, hand in zip(turnarounds, HAND, strict=True)]
    weighted = sum(one * hand.b for one, hand in zip(slowdowns, HAND, strict=True))
    work = 600 * 8 + 300 * 8 + 120 * 8 + 50 * 2 + 70 * 2 + 60 * 2 + 60 * 2 + 100 * 8 + 200 * 16 + 100 * 2
    makespan = 1611 - 10.25
    found: dict[str, float] = {"jobs": 11, "finished": 10, "makespan": makespan, "throughput": 10 / makespan, "users": 5}
    found |= {"utilisation": work / (16 * makespan)}
    found |= {"weighted_slowdown_mean": weighted / sum(hand.b for hand in HAND), "weighted_slowdown_total": weighted / 10}
    for name, values in {
        "waiting_time": waits,
        "turnaround_time": turnarounds,
        "slowdown": slowdowns,
        "bounded_slowdown": bounded,
        "per_processor_slowdown": scaled,
    }.items():
        found |= {
            f"mean_{name}": statistics.mean(values),
            f"median_{name}": statistics.median(values),
            f"max_{name}": max(values),
        }
    found |= {"user_fairness_waiting_time": jain(by_user(waits)), "user_fairness_bounded_slowdown": jain(by_user(bounded))}
    lost_1, lost_2, lost_9 = (421 - 11) + (810 - 572), 40 - 11, 810 - 710
    found |= {"restarts": 2 + 1, "preemptions": 2, "lost_core_seconds": 8 * (lost_1 + lost_2 + lost_9)}
    return found | {"lost_gpu_seconds": 2 * lost_1, "gpu_seconds": 2 * 600 + 1 * 120}


def line(words: list[str]) -> str:
    number, user, state, start, end, nodes, cores, submitted, *more = words
    day = "1970-01-01T"
    return (
        f"JobId={number} UserId={user}(7) Name=swf-{number} JobState={state} Partition=low TimeLimit=20 StartTime={day}{start} "
        f"EndTime={day}{end} NodeList={nodes} NodeCnt=1 ProcCnt={cores} Tres=cpu={cores},node=1 Account=a QOS= "
        f"SubmitTime={day}{submitted} {' '.join(more)} ExitCode=0:0"
    )


@pytest.fixture
def rows() -> list[JobRow]:
    recorded = Recorded(
        clients=CLIENTS,
        submissions={id: Submission(id, at + EARLY_S, NUMBERS.get(id, str(id)), "") for id, at in SUBMITTED.items()},
        completed=parse_jobcomp(line(text.split()) for text in RECORDS.strip().splitlines()),
        origin_s=0.0,
        epoch_s=0.0,
        suspended={11: 40.0},
    )
    requests = {id: Request(number=id, gres=GPUS.get(id, "")) for id in SUBMITTED}
    jobs = [Job(id, at, 1.0, 1200.0, SIZES[id], request=requests[id]) for id, at in SUBMITTED.items()]
    return make_rows("w", jobs, [], recorded)


@pytest.fixture
def folder(rows: list[JobRow], tmp_path: Path) -> Path:
    return runs.write_run(tmp_path / "r", [on_nodes(row) for row in rows], 2, cores=8)


HOSTS = {"node[1-2]": "node[0001-0002]", "node1": "node0001", "node2": "node0002", "": ""}
"""What `runs.machines` calls the nodes."""


def on_nodes(row: JobRow) -> JobRow:
    return replace(row, allocated_hosts=HOSTS[row.allocated_hosts])


def test_metrics_are_those_computed_by_hand(folder: Path) -> None:
    told = read_record(folder / "run.json")["metrics"]
    assert list(told) == [metric.name for metric in METRICS]
    by_hand = expected()
    assert {name: told[name] for name in by_hand} == pytest.approx(by_hand, rel=1e-12)
    assert {name for name in told if name not in by_hand} == {"mean_scheduling_delay", "consumed_energy", "machine_energy"}


def test_page_terminal_and_tables_tell_the_number_of_run_json(folder: Path) -> None:
    record = read_record(folder / "run.json")
    told: dict[str, float] = {name: value for name, value in record["metrics"].items() if value is not None}
    comparison = Comparison([read_run(folder)])
    assert {name: value for name, value in comparison.summaries()[0].items() if value == value} == told
    assert {name: value for name, value in metrics_of(folder).items() if value == value} == told
    page = {row["name"]: row["cells"][0]["text"] for row in summary_rows(comparison)}
    shown = [metric for metric in METRICS if metric.on_page and is_shown(metric, [told.get(metric.name)])]
    assert len(shown) > 20
    assert {metric.title: page[metric.title] for metric in shown} == {
        metric.title: written(metric, told[metric.name]) for metric in shown
    }
    terminal = figures(RunRecord(**{**asdict(runs.record()), "metrics": record["metrics"]}))
    assert terminal.items() <= page.items() and "lost GPU hours" in terminal


def test_the_page_as_it_is_written_has_the_numbers_of_run_json(folder: Path, tmp_path: Path) -> None:
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == 0
    found = re.findall(r'<th scope="row" title="[^"]*">([^<]+)</th><td>([^<]+)</td>', (tmp_path / "page.html").read_text())
    rows = {html.unescape(name): html.unescape(text) for name, text in found}
    told = read_record(folder / "run.json")["metrics"]
    shown = [metric for metric in METRICS if metric.on_page and is_shown(metric, [told[metric.name]])]
    assert {metric.title: rows[metric.title] for metric in shown} == {
        metric.title: written(metric, told[metric.name]) for metric in shown
    }


def test_a_sweep_tells_and_draws_the_numbers_of_run_json(folder: Path, tmp_path: Path) -> None:
    """Of one run: the means of its table and of its pictures are the run's own numbers."""
    told = {name: value for name, value in read_record(folder / "run.json")["metrics"].items() if value is not None}
    run = Run(Path("s.yaml"), (("load", "a"),), 0, 1, ())
    row = {"run": run.name, "status": DONE, "valid": True, **metrics_of(folder)}
    write_table(tmp_path / "results.csv", [row])
    (line,) = csv.DictReader((tmp_path / "results.csv").read_text().splitlines())
    assert {name: float(line[name]) for name in told} == pytest.approx(told, rel=1e-9)
    settings = settings_of({run: row})
    found = estimates(settings, list(told))
    assert {each.metric: each.interval.mean for each in found} == told
    write_files(tmp_path, found)
    lines = csv.DictReader((tmp_path / "table.csv").read_text().splitlines())
    assert {line["metric"]: float(line["mean"]) for line in lines} == pytest.approx(told, rel=1e-9)
    for each in found:
        assert drawn(partial(_means, each.metric, [each])) == [told[each.metric]], each.metric
        values = {each.setting: list(settings[0].values(each.metric).values())}
        assert drawn(partial(_boxes, each.metric, values)) == [told[each.metric]], each.metric


def drawn(draw: Callable[[dict[str, str], Any], None]) -> list[float]:
    """The places along the axis of the points that a picture of one setting, which is in blue, has."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    draw(dict.fromkeys(["all runs"], "blue"), axes)
    found = [float(place) for line in axes.lines for place in np.asarray(line.get_xdata(), dtype=float)]
    pyplot.close(figure)
    return found


def test_batsims_files_tell_the_number_of_run_json(folder: Path) -> None:
    told = read_record(folder / "run.json")["metrics"]
    (schedule,) = csv.DictReader((folder / "schedule.csv").read_text().splitlines())
    of_both: list[Metric] = [metric for metric in METRICS if metric.batsim and told[metric.name] is not None]
    assert len(of_both) == 7
    for metric in of_both:
        assert float(schedule[metric.batsim]) == pytest.approx(told[metric.name], abs=5e-7), metric.name
    jobs = pd.read_csv(folder / "jobs.csv")
    assert jobs["waiting_time"].mean() == pytest.approx(told["mean_waiting_time"], rel=1e-12)
    assert jobs["turnaround_time"].max() == told["max_turnaround_time"]
    assert jobs["stretch"].mean() == pytest.approx(told["mean_slowdown"], abs=1e-6)
    for name in ("restarts", "preemptions", "lost_core_seconds", "lost_gpu_seconds"):
        assert jobs[name].sum() == told[name]


@pytest.mark.filterwarnings("ignore")  # evalys uses what pandas has deprecated
def test_evalys_computes_the_number_of_run_json(folder: Path) -> None:
    jobset = pytest.importorskip("evalys.jobset").JobSet
    told = read_record(folder / "run.json")["metrics"]
    found = jobset.from_csv(str(folder / "jobs.csv"), resource_bounds=(0, 15)).df
    assert found["waiting_time"].mean() == pytest.approx(told["mean_waiting_time"], rel=1e-12)
    assert found["turnaround_time"].mean() == pytest.approx(told["mean_turnaround_time"], rel=1e-12)
    assert found["stretch"].mean() == pytest.approx(told["mean_slowdown"], abs=1e-6)


def test_figures_draw_the_waits_of_jobs_csv(folder: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    draw_shares(axes, Comparison([read_run(folder)]).waits(), ["r"], "wait", {0.0: "0", 1e4: "10,000 s"})
    (drawn,) = axes.lines
    waits = np.sort(pd.read_csv(folder / "jobs.csv")["waiting_time"].dropna())
    assert drawn.get_xdata() == pytest.approx(np.unique(waits))
    assert drawn.get_ydata() == pytest.approx([100 * np.mean(waits <= one) for one in np.unique(waits)])
    pyplot.close(figure)


def test_the_queue_is_empty_at_the_end(folder: Path) -> None:
    """Job 4 leaves the queue of its own accord, at 110 s."""
    table = read_run(folder).jobs
    assert table is not None and table.set_index("job_id").loc["4", "removal_time"] == 110
    queue = queued_jobs(table)
    assert queue.iloc[-1] == 0 and queue.max() == 7
    assert queued_processors(table).iloc[-1] == 0


def test_a_job_that_waits_again_at_the_end_of_the_run_has_lost_its_run() -> None:
    first, *_ = (line(text.split()) for text in RECORDS.strip().splitlines())
    (job,) = parse_jobcomp([first]).values()
    assert (job.start_s, job.state) == (None, "PENDING")
    assert job.earlier is not None and [(run.run_s, run.cores) for run in job.earlier] == [(29.0, 8)]


@pytest.mark.parametrize(
    ("gres", "tres", "nodes", "gpus"),
    [
        ("gpu:2", "", 3, 6),
        ("gpu", "", 1, 1),
        ("gpu:a100:4,nic:1", "", 2, 8),
        ("gpu:a100:1,gpu:v100:2", "", 1, 3),
        ("nic:2", "", 1, None),
        ("", "cpu=4,gres/gpu=8", 5, 8),
        ("", "", 1, None),
    ],
)
def test_gpus_that_a_job_asks_for(gres: str, tres: str, nodes: int, gpus: int | None) -> None:
    assert Request(number=1, gres=gres, tres=tres).gpus(nodes) == gpus


def test_energy_of_a_window() -> None:
    power = pd.DataFrame({"time": [0.0, 10.0, 20.0], "watts": [100.0, 300.0, 50.0]})
    assert energy_between(power, 5.0, 30.0) == 5 * 100 + 10 * 300 + 10 * 50
    assert energy_between(power, 12.0, 13.0) == 300.0
    assert np.isnan(energy_between(power, 5.0, 5.0))


def test_titles_and_batsims_columns_are_each_one_metric() -> None:
    assert len({metric.title for metric in METRICS}) == len(METRICS) == len(BY_NAME)
    columns = [metric.batsim for metric in METRICS if metric.batsim]
    assert len(set(columns)) == len(columns) == 8
