"""MAKE-PACK and LPT, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix.io_coordinator.packs import (
    COLUMNS,
    UNLIMITED,
    JobsError,
    PeriodicJob,
    longest_first,
    make_packs,
    read_jobs,
    write_jobs,
)

FOUR = [PeriodicJob(number, 2, 6.0, 4, 10) for number in (1, 2, 3, 4)]
"""E7 of the studies: (6, 4), ten times, on two processors of eight."""


def numbers(jobs: list[PeriodicJob], processors: int, limit: float) -> list[list[int]]:
    return [[job.number for job in pack.jobs] for pack in make_packs(jobs, processors, 1.0, limit)]


def test_a_pack_asks_for_no_more_than_the_disk_has() -> None:
    assert numbers(FOUR, 8, UNLIMITED) == [[1, 2, 3, 4]]
    assert numbers(FOUR, 8, 1.0) == [[1, 2], [3, 4]]
    assert numbers(FOUR, 8, 1.2) == [[1, 2, 3], [4]]
    assert numbers(FOUR, 4, UNLIMITED) == [[1, 2], [3, 4]]
    (pack,) = make_packs(FOUR, 8, 1.0, UNLIMITED)
    assert (pack.alone_s, pack.load, pack.processors) == (100.0, pytest.approx(1.6), 8)
    assert FOUR[0].share(1.0) == pytest.approx(0.4)


def test_the_longest_come_first_and_fill_the_fullest_pack() -> None:
    shapes = [(4, 5.0), (6, 9.0), (5, 8.0), (2, 1.0)]
    jobs = [PeriodicJob(number, processors, compute, 0, 10) for number, (processors, compute) in enumerate(shapes, 1)]
    assert numbers(jobs, 8, 1.0) == [[2, 4], [3], [1]]
    packs = make_packs(jobs, 8, 1.0)
    assert [pack.alone_s for pack in longest_first(reversed(packs))] == [90.0, 80.0, 50.0]


def test_a_file_of_jobs(tmp_path: Path) -> None:
    write_jobs(tmp_path / "jobs.csv", FOUR)
    assert read_jobs(tmp_path / "jobs.csv") == FOUR
    (tmp_path / "jobs.csv").write_text(",".join(COLUMNS) + "\n1,2,x,4,5\n")
    with pytest.raises(JobsError, match=r"jobs.csv:2: compute: expected a number, got 'x'"):
        read_jobs(tmp_path / "jobs.csv")
    (tmp_path / "jobs.csv").write_text("number\n")
    with pytest.raises(JobsError, match=r"jobs.csv:1: expected the columns number,processors"):
        read_jobs(tmp_path / "jobs.csv")
    with pytest.raises(JobsError, match=r"job 1 needs 2 processors of 1"):
        make_packs(FOUR, 1, 1.0)
