"""The figures of a report: what they show of runs whose answers are known."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simunix.metrics.series import busy_processors, mean_over, mean_over_bins
from simunix.report.comparison import POINTS_MAX, Comparison, occupancy
from simunix.report.run_data import read_run
from simunix.results.jobs_csv import JobRow
from tests.unit.simunix.report import runs


def job(number: int, submit: float, start: float, end: float, hosts: str = "node0001", cores: int = 16) -> JobRow:
    return runs.ran(number, submit, start, end, hosts, cores)


@pytest.fixture
def pair(tmp_path: Path) -> Comparison:
    """The same two jobs one after the other, and side by side; the second run has a third one."""
    runs.write_run(tmp_path / "one", [job(1, 0, 0, 100), job(2, 0, 100, 200)], 2)
    runs.write_run(tmp_path / "two", [job(3, 50, 50, 60), job(2, 0, 0, 100, "node0002"), job(1, 0, 0, 100)], 2)
    return Comparison([read_run(tmp_path / name) for name in ("one", "two")])


def test_curves(pair: Comparison) -> None:
    utilisation, queue = pair.utilisation(), pair.queue()
    assert utilisation.x.tolist() == [0, 50, 60, 100, 200] and utilisation.bin_s is None
    assert utilisation.y[0].tolist() == [50, 50, 50, 50, 0] and utilisation.y[1].tolist() == [100, 150, 100, 0, 0]
    assert queue.y[0][0] == 1 and queue.y[0][-1] == 0 and not queue.y[1].any()


def test_a_run_without_jobs_has_no_curve(tmp_path: Path) -> None:
    for name, jobs in (("few", runs.rows(3, 2)), ("many", runs.rows(3000, 16))):
        runs.write_run(tmp_path / name, jobs, 16)
        empty = runs.write_run(tmp_path / f"{name}-none", [], 1)
        comparison = Comparison([read_run(tmp_path / name), read_run(empty)])
        for curves in (comparison.utilisation(), comparison.queue(), comparison.waits()):
            assert np.isnan(curves.y[1]).all() and not np.isnan(curves.y[0]).any()


def test_distributions(pair: Comparison) -> None:
    assert pair.waits().x.tolist() == [0, 100]
    assert [one.tolist() for one in pair.waits().y] == [[50, 100], [100, 100]]
    assert pair.slowdowns().y[0].tolist() == [50, 100]


def test_jobs_stand_side_by_side(pair: Comparison) -> None:
    table = pair.table.set_index("job_id")
    assert table["wait.0"].to_dict() == {"1": 0, "2": 100, "3": pytest.approx(np.nan, nan_ok=True)}
    assert table["wait.1"].to_dict() == {"1": 0, "2": 0, "3": 0}
    assert table["cores"].tolist() == [16, 16, 16] and list(table.index) == ["1", "2", "3"]


def test_gantt(pair: Comparison) -> None:
    found = pair.rectangles(0, 10)
    assert found is not None and found.cores == 32 and found.density is None
    assert list(zip(found.job.tolist(), found.low.tolist(), found.high.tolist(), strict=True)) == [(0, 0, 15), (1, 0, 15)]
    largest = pair.rectangles(1, 2)
    assert largest is not None and largest.total == 3
    assert sorted(pair.table["job_id"].to_numpy()[largest.job]) == ["1", "2"], "the short one is left out"


def test_the_same_job_twice_is_two_rows(tmp_path: Path) -> None:
    run = read_run(runs.write_run(tmp_path / "r", [job(1, 0, 0, 5), job(1, 9, 9, 12)], 1))
    assert Comparison([run]).table["start.0"].tolist() == [0, 9]


def test_many_jobs_become_means_over_bins(tmp_path: Path) -> None:
    run = read_run(runs.write_run(tmp_path / "r", runs.rows(3000, 16), 16))
    curve = Comparison([run]).utilisation()
    assert curve.bin_s is not None and len(curve.x) == len(curve.y[0]) == POINTS_MAX + 1
    assert run.jobs is not None
    whole = mean_over(busy_processors(run.jobs), 0.0, float(curve.x[-1])) * 100 / 256
    assert curve.y[0][:-1].mean() == pytest.approx(whole)


@given(st.lists(st.tuples(st.integers(0, 90), st.integers(1, 50), st.integers(1, 9)), max_size=12), st.integers(1, 7))
def test_means_over_bins_are_the_means_over_each(jobs: list[tuple[int, int, int]], bins: int) -> None:
    import pandas as pd

    columns = ["starting_time", "length", "requested_number_of_resources"]
    frame = pd.DataFrame(jobs, columns=columns).astype(float)
    steps = busy_processors(frame.assign(finish_time=frame["starting_time"] + frame["length"]))
    edges = np.linspace(0, 120, bins + 1)
    expected = [mean_over(steps, low, high) for low, high in itertools.pairwise(edges)]
    assert mean_over_bins(steps, edges) == pytest.approx(expected, abs=1e-9)


def test_bins_must_rise() -> None:
    import pandas as pd

    with pytest.raises(ValueError, match="rising"):
        mean_over_bins(pd.Series(dtype=float), np.array([0.0, 0.0]))


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10), st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=8))
def test_occupancy_is_the_covered_share_of_each_cell(boxes: list[tuple[float, float, int, int]]) -> None:
    sides = np.array([[min(a, b), max(a, b), min(c, d), max(c, d)] for a, b, c, d in boxes]).T
    picture = occupancy(*sides, 10.0, 8, (4, 5))
    expected = np.zeros((4, 5))
    for begin, end, low, high in sides.T:
        for row in range(4):
            for column in range(5):
                along = max(0.0, min(end, 2 * column + 2) - max(begin, 2 * column)) / 2
                across = max(0.0, min(high, 2 * row + 2) - max(low, 2 * row)) / 2
                expected[row, column] += along * across
    assert picture == pytest.approx(expected, abs=1e-9)
