"""The cores of a job: as many as the job got, on its nodes, and not shared with other jobs as long as there are enough."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.errors import SimunixError
from simunix.results.jobs_csv import JobRow
from simunix.results.machines import (
    Machines,
    bit_intervals,
    intervals_text,
    lowest_bits,
    merged,
    parse_intervals,
    read_machines,
    with_resources,
    write_machines,
)
from tests.unit.simunix.report import runs

MACHINES = Machines({"a": 4, "b": 2, "c": 4})


def job(number: int, start: float, end: float, hosts: str, cores: int) -> JobRow:
    return runs.ran(number, start, start, end, hosts, cores)


def placed(*jobs: JobRow) -> list[str]:
    return [row.allocated_resources for row in with_resources(jobs, MACHINES)]


def test_jobs_side_by_side_get_different_cores_and_later_ones_the_freed() -> None:
    assert placed(job(1, 0, 10, "a", 2), job(2, 5, 15, "a", 2), job(3, 10, 12, "a", 1)) == ["0-1", "2-3", "0"]


def test_nodes_are_filled_in_order_with_a_core_on_each() -> None:
    assert placed(job(1, 0, 1, "a,b,c", 6)) == ["0-4 6"]
    assert placed(job(1, 0, 1, "a,b,c", 10)) == ["0-9"]


def test_cores_are_shared_when_there_are_too_few() -> None:
    assert placed(job(1, 0, 9, "b", 2), job(2, 1, 9, "b", 2)) == ["4-5", "4-5"]


def test_a_job_of_no_length_leaves_its_cores_at_once() -> None:
    assert placed(job(1, 3, 3, "a", 4), job(2, 3, 9, "a", 4)) == ["0-3", "0-3"]


def test_jobs_that_did_not_run_and_unknown_hosts_have_none() -> None:
    assert placed(runs.waiting(1, 0, cores=1), job(2, 0, 1, "elsewhere", 1), job(3, 0, 1, "no[thing", 1)) == ["", "", ""]


@given(st.integers(0, 2**70), st.integers(0, 80), st.integers(0, 1000))
def test_bits(mask: int, count: int, offset: int) -> None:
    kept = lowest_bits(mask, count)
    assert kept & ~mask == 0 and kept.bit_count() == min(count, mask.bit_count())
    spread = [number for low, high in bit_intervals(mask, offset) for number in range(low, high + 1)]
    assert spread == [offset + bit for bit in range(71) if mask >> bit & 1]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), max_size=20))
def test_intervals(pairs: list[tuple[int, int]]) -> None:
    intervals = merged((low, low + length) for low, length in pairs)
    assert parse_intervals(intervals_text(intervals)) == intervals
    numbers = [number for low, high in intervals for number in range(low, high + 1)]
    assert numbers == sorted({number for low, length in pairs for number in range(low, low + length + 1)})
    assert all(high + 1 < low for (_, high), (low, _) in itertools.pairwise(intervals))


@given(st.integers(1, 60), st.integers(1, 20), st.integers(0, 5))
def test_no_core_has_two_jobs_at_once(count: int, nodes: int, seed: int) -> None:
    found = with_resources(runs.rows(count, nodes, seed), runs.machines(nodes))
    spans: dict[int, list[tuple[float, float]]] = {}
    for row in found:
        numbers = [number for low, high in parse_intervals(row.allocated_resources) for number in range(low, high + 1)]
        assert len(numbers) == row.allocated_cores
        for number in numbers:
            spans.setdefault(number, []).append((row.starting_time or 0, row.finish_time or 0))
    for times in spans.values():
        times.sort()
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(times))


def test_machines_csv(tmp_path: Path) -> None:
    write_machines(tmp_path / "machines.csv", MACHINES)
    assert (tmp_path / "machines.csv").read_text().split() == ["host,first,cores", "a,0,4", "b,4,2", "c,6,4"]
    assert read_machines(tmp_path / "machines.csv") == MACHINES


@pytest.mark.parametrize(
    ("text", "message"),
    [("host,first,cores\na,0,x\n", "machines.csv:2"), ("x\n1\n", "machines.csv:1"), ("host,first,cores\na,0,2\nb,2,0\n", ":3")],
)
def test_what_is_no_machines_csv_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "machines.csv").write_text(text)
    with pytest.raises(SimunixError, match=message) as caught:
        read_machines(tmp_path / "machines.csv")
    assert "\n" not in str(caught.value)
