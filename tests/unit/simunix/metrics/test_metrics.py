"""Metrics against examples worked by hand, and what must hold whatever the jobs are."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.metrics import fairness, jobs, per_job, repetitions, schedule, series
from simunix.workload.formats.swf import SwfRecord, SwfTrace
from simunix.workload.formats.swf import table as table_of

PROCESSORS = 8
# Three jobs on 8 processors: the second waits for the first, the third fits beside the second; a fourth never starts.
EXAMPLE = pd.DataFrame(
    {
        "submission_time": [0.0, 0.0, 10.0, 50.0],
        "starting_time": [0.0, 20.0, 20.0, None],
        "finish_time": [20.0, 60.0, 24.0, None],
        "requested_number_of_resources": [8, 4, 2, 8],
        "user": [1, 2, 1, 2],
    }
)


@pytest.fixture
def table() -> pd.DataFrame:
    return jobs.job_table(EXAMPLE)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (per_job.waiting_time, [0.0, 20.0, 10.0]),
        (per_job.turnaround_time, [20.0, 60.0, 14.0]),
        (per_job.slowdown, [1.0, 1.5, 3.5]),
        (per_job.bounded_slowdown, [1.0, 1.5, 1.4]),
        (per_job.per_processor_slowdown, [1.0, 1.0, 1.0]),
        (per_job.area, [160.0, 160.0, 8.0]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_per_job(table: pd.DataFrame, metric: object, expected: list[float]) -> None:
    values = metric(table)  # type: ignore[operator]
    assert values.iloc[:3].tolist() == expected
    assert math.isnan(values.iloc[3])


def test_per_processor_slowdown_of_a_narrow_job() -> None:
    one = jobs.job_table(EXAMPLE.assign(requested_number_of_resources=1))
    assert per_job.per_processor_slowdown(one, tau_s=1.0).iloc[2] == 3.5


def test_schedule(table: pd.DataFrame) -> None:
    assert schedule.makespan(table) == 60.0
    assert schedule.utilisation(table, PROCESSORS) == (160 + 160 + 8) / (8 * 60)
    assert schedule.throughput(table) == 3 / 60
    assert schedule.weighted_slowdown_total(table) == (8 * 1.0 + 4 * 1.5 + 2 * 3.5) / 3
    assert schedule.weighted_slowdown_mean(table) == (8 * 1.0 + 4 * 1.5 + 2 * 3.5) / 14


def test_summary_names_what_it_says(table: pd.DataFrame) -> None:
    summary = schedule.summary(table, PROCESSORS)
    assert summary["jobs"] == 4
    assert summary["finished"] == 3
    assert summary["mean_waiting_time"] == 10.0
    assert summary["max_slowdown"] == 3.5
    assert summary["median_turnaround_time"] == 20.0
    assert summary["max_per_processor_slowdown"] == 1.0
    assert summary["mean_scheduling_delay"] == 0.0
    assert summary["users"] == 2
    assert summary["user_fairness_waiting_time"] == fairness.user_fairness(table, per_job.waiting_time)


def test_a_part_of_the_jobs_on_a_machine_that_all_of_them_use(table: pd.DataFrame) -> None:
    """Submitted from 10 s on: the third (10 ... 24 s), and a fourth that never starts. All hold 8 x 10 + 6 x 4 meanwhile."""
    part = schedule.summary(table.iloc[2:], PROCESSORS, table)
    assert (part["jobs"], part["finished"], part["mean_waiting_time"]) == (2, 1, 10.0)
    assert part["utilisation"] == (8 * 10 + 6 * 4) / (8 * 14)
    assert part["mean_scheduling_delay"] == 0.0, "there was no room before the first job ended"
    assert schedule.summary(table, PROCESSORS, table).equals(schedule.summary(table, PROCESSORS))
    assert schedule.utilisation_during(table, PROCESSORS, 0, 60) == schedule.utilisation(table, PROCESSORS)
    assert math.isnan(schedule.utilisation_during(table, PROCESSORS, 60, 60))


def test_delays_of_a_machine_that_was_shared_are_unknown(table: pd.DataFrame) -> None:
    assert math.isnan(schedule.summary(table, 4)["mean_scheduling_delay"])


def test_series(table: pd.DataFrame) -> None:
    assert series.busy_processors(table).to_dict() == {0.0: 8.0, 20.0: 6.0, 24.0: 4.0, 60.0: 0.0}
    assert series.queued_jobs(table).to_dict() == {0.0: 1.0, 10.0: 2.0, 20.0: 0.0, 50.0: 1.0}
    assert series.queued_processors(table).iloc[-1] == 8.0
    assert series.running_jobs(table).max() == 2.0


def test_mean_over_a_window(table: pd.DataFrame) -> None:
    busy = series.busy_processors(table)
    assert series.mean_over(busy, 0, 60) / PROCESSORS == schedule.utilisation(table, PROCESSORS)
    assert series.mean_over(busy, -10, 10) == 4.0
    assert series.mean_over(busy, 22, 26) == 5.0
    with pytest.raises(ValueError, match="begin before end"):
        series.mean_over(busy, 5, 5)


def test_steady_window(table: pd.DataFrame) -> None:
    assert series.steady_window(table, 0.1, 0.2) == (5.0, 40.0)
    assert len(series.submitted_within(table, 5.0, 40.0)) == 1
    with pytest.raises(ValueError, match="below 1"):
        series.steady_window(table, 0.5, 0.5)


def test_suspension_counts_as_waiting() -> None:
    suspended = jobs.job_table(EXAMPLE.assign(suspended_time=[10.0, 0.0, 0.0, 0.0]))
    assert suspended["execution_time"].iloc[0] == 10.0
    assert per_job.slowdown(suspended).iloc[0] == 2.0


def test_a_job_of_no_time_has_a_bounded_slowdown_only() -> None:
    table = jobs.job_table(EXAMPLE.assign(finish_time=EXAMPLE["starting_time"]))
    assert per_job.slowdown(table).isna().all()
    assert per_job.bounded_slowdown(table).iloc[1] == 2.0


def test_users(table: pd.DataFrame) -> None:
    assert fairness.per_user(table, per_job.waiting_time).to_dict() == {1: 5.0, 2: 20.0}
    assert fairness.user_fairness(table, per_job.waiting_time) == pytest.approx(25.0**2 / (2 * (25 + 400)))
    rows = fairness.user_table(table).to_dict("list")
    assert rows["user"] == [1, 2], "of 168 processor seconds and of 160"
    assert (rows["jobs"], rows["finished"], rows["work"]) == ([2, 2], [2, 1], [168.0, 160.0])
    assert rows["mean_bounded_slowdown"] == [1.2, 1.5]


@pytest.mark.parametrize("nobody", ["", -1, "-1", None, math.nan])
def test_jobs_of_nobody_known_are_nobodys(nobody: object) -> None:
    table = jobs.job_table(EXAMPLE.assign(user=pd.Series(["a", nobody, "a", nobody], dtype=object)))
    assert fairness.per_user(table, per_job.waiting_time).to_dict() == {"a": 5.0}
    assert fairness.user_table(table)["user"].tolist() == ["a"]
    unknown = jobs.job_table(EXAMPLE.assign(user=pd.Series([nobody] * 4, dtype=object)))
    assert math.isnan(fairness.user_fairness(unknown)) and fairness.user_table(unknown).empty
    assert schedule.summary(unknown, PROCESSORS)["users"] == 0


def test_deviations_are_told_apart() -> None:
    values = pd.Series([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])
    assert repetitions.population_deviation(values) == 2.0
    assert repetitions.sample_deviation(values) == pytest.approx(math.sqrt(32 / 7))
    assert repetitions.relative_deviation(values) == pytest.approx(math.sqrt(32 / 7) / 5)


def test_confidence_interval_of_a_text_book() -> None:
    """Ten values with mean 1.0 and s = 0.1: t(9) at 95 % is 2.262 (any table of Student's t)."""
    values = pd.Series([0.9, 1.1] * 5) * 1.0
    s = math.sqrt(10 * 0.01 / 9)
    assert repetitions.confidence_half_width(values) == pytest.approx(2.262157 * s / math.sqrt(10), rel=1e-6)
    assert math.isnan(repetitions.confidence_half_width(pd.Series([1.0])))
    with pytest.raises(ValueError, match="between 0 and 1"):
        repetitions.confidence_half_width(values, 95)


def test_accounting_that_cuts_fractions_of_seconds_off(tmp_path: Path) -> None:
    """A run's jobs.csv as it is: submitted at 10.0003 by the submitter's clock, started at 10 by Slurm's."""
    header = "job_id,submission_time,starting_time,finish_time,requested_number_of_resources\n"
    (tmp_path / "jobs.csv").write_text(header + "1,10.000294,10,70,4\n2,10.5,,,4\n3,10.5,12,20,4\n")
    table = jobs.read_jobs_csv(tmp_path / "jobs.csv")
    assert per_job.waiting_time(table).tolist()[::2] == [0.0, 1.5]
    (tmp_path / "jobs.csv").write_text(header + "1,11,10,70,4\n")
    with pytest.raises(SimunixError, match="starting_time 10 is before submission_time 11"):
        jobs.read_jobs_csv(tmp_path / "jobs.csv")


# What is wrong with a table


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"submission_time": ["0", "x", "1", "2"]}, "jobs.csv:3: submission_time: expected a number, got 'x'"),
        ({"starting_time": [0.0, -1.0, 20.0, None]}, "jobs.csv:3: starting_time -1 is before submission_time 0"),
        ({"finish_time": [20.0, 19.0, 24.0, None]}, "jobs.csv:3: finish_time 19 is before starting_time 20"),
        ({"requested_number_of_resources": [8, 4, 0, 8]}, "jobs.csv:4: requested_number_of_resources: a job that ran"),
        ({"suspended_time": [30.0, 0.0, 0.0, 0.0]}, "jobs.csv:2: execution_time is below zero"),
        ({"finish_time": [math.inf, 60.0, 24.0, None]}, "jobs.csv:2: finish_time: expected a number, got 'inf'"),
    ],
)
def test_wrong_rows_are_named(columns: dict[str, list[object]], message: str) -> None:
    with pytest.raises(SimunixError, match=message):
        jobs.job_table(EXAMPLE.assign(**columns), "jobs.csv", first_line=2)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(SimunixError, match="job table: column finish_time is missing"):
        jobs.job_table(EXAMPLE.drop(columns="finish_time"))


def test_jobs_csv(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    EXAMPLE.assign(job_id=["1", "2", "3", "4"]).to_csv(path, index=False)
    assert schedule.makespan(jobs.read_jobs_csv(path)) == 60.0


@pytest.mark.parametrize("text", [None, "", "a,b\n1,2,3,4\n", "\x00\xff"])
def test_what_is_no_jobs_csv_is_one_line(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "jobs.csv"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SimunixError) as raised:
        jobs.read_jobs_csv(path)
    assert str(raised.value).startswith(str(path))
    assert "\n" not in str(raised.value)


def record(job: int, submit: float, wait: float, runtime: float, allocated: int) -> SwfRecord:
    return SwfRecord(job, submit, wait, runtime, allocated, -1, -1, 4, 100, -1, 1, 7, -1, -1, -1, -1, -1, -1)


def test_a_trace_is_a_job_table() -> None:
    table = jobs.from_swf(
        SwfTrace(
            (), table_of([record(1, 5, 2, 10, 8), record(2, 6, -1, 10, 8), record(3, 6, 0, -1, 8), record(4, 7, 1, 1, -1)])
        )
    )
    assert table["finished"].tolist() == [True, False, False, True]
    assert table["finish_time"].iloc[0] == 17.0
    assert table["requested_number_of_resources"].tolist() == [8, 8, 8, 4]
    assert jobs.from_swf(SwfTrace((), table_of([]))).empty


# Properties

ONE_JOB = st.tuples(
    st.floats(0, 1e6), st.floats(0, 1e5), st.floats(1e-3, 1e5), st.integers(1, 64), st.integers(0, 3)
)  # submit, wait, run time, processors, user
FEW = settings(max_examples=40)  # each makes a dozen pandas objects
JOBS = st.lists(ONE_JOB, min_size=1, max_size=30)


def made(rows: list[tuple[float, float, float, int, int]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["submission_time", "wait", "run", "requested_number_of_resources", "user"])
    frame["starting_time"] = frame["submission_time"] + frame["wait"]
    frame["finish_time"] = frame["starting_time"] + frame["run"]
    return jobs.job_table(frame.drop(columns=["wait", "run"]))


@FEW
@given(JOBS, st.floats(1e-3, 1e4))
def test_bounds(rows: list[tuple[float, float, float, int, int]], tau_s: float) -> None:
    table = made(rows)
    plain, bounded = per_job.slowdown(table).dropna(), per_job.bounded_slowdown(table, tau_s)
    assert (plain >= 1).all()
    assert (bounded >= 1).all()
    assert (bounded[plain.index] <= plain * (1 + 1e-12)).all()
    assert (per_job.per_processor_slowdown(table, tau_s) <= bounded).all()
    assert schedule.weighted_slowdown_total(table) >= plain.mean() * (1 - 1e-12)
    assert plain.min() * (1 - 1e-12) <= schedule.weighted_slowdown_mean(table) <= plain.max() * (1 + 1e-12)


@FEW
@given(JOBS)
def test_work_is_the_area_under_the_busy_processors(rows: list[tuple[float, float, float, int, int]]) -> None:
    table = made(rows)
    busy = series.busy_processors(table)
    begin, end = float(table["submission_time"].min()), float(table["finish_time"].max())
    assert series.mean_over(busy, begin, end) * (end - begin) == pytest.approx(per_job.area(table).sum(), rel=1e-6)
    assert busy.iloc[-1] == pytest.approx(0, abs=1e-9)
    assert (series.queued_jobs(table) >= 0).all()


@FEW
@given(JOBS)
def test_waiting_time_is_the_area_under_the_queue(rows: list[tuple[float, float, float, int, int]]) -> None:
    """Little's law for a whole run: the queue's integral is the sum of the waits."""
    table = made(rows)
    begin, end = float(table["submission_time"].min()), float(table["finish_time"].max())
    held = series.mean_over(series.queued_jobs(table), begin, end) * (end - begin)
    assert held == pytest.approx(per_job.waiting_time(table).sum(), rel=1e-6, abs=1e-3)


@FEW
@given(JOBS, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(rows: list[tuple[float, float, float, int, int]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = schedule.summary(made(rows), 64), schedule.summary(made(shuffled), 64)
    assert other.tolist() == pytest.approx(one.tolist(), nan_ok=True)


@given(st.lists(st.floats(0, 1e300), min_size=1))
def test_jain_index_lies_between_one_nth_and_one(values: list[float]) -> None:
    index = fairness.jain_index(pd.Series(values))
    assert 1 / len(values) * (1 - 1e-9) <= index <= 1 + 1e-9


def test_jain_index_of_extremes() -> None:
    assert fairness.jain_index(pd.Series([3.0] * 7)) == 1.0
    assert fairness.jain_index(pd.Series([0.0, 0.0, 0.0, 5.0])) == 0.25
    assert fairness.jain_index(pd.Series([0.0, 0.0])) == 1.0
    assert math.isnan(fairness.jain_index(pd.Series([], dtype=float)))
    with pytest.raises(ValueError, match="below 0"):
        fairness.jain_index(pd.Series([-1.0]))
