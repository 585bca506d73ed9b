"""The 500 jobs are those of the published distribution, the same each time."""

from __future__ import annotations

from collections import Counter

from simunix_bench.wall_time.five_hundred_jobs import COUNT, HOURS, OF, SIZES, draw


def test_the_jobs_are_spread_over_the_hours_and_fit_the_machine() -> None:
    rows = draw(COUNT, HOURS)
    assert len(rows) == COUNT and rows == draw(COUNT, HOURS)
    arrivals = [row[1] for row in rows]
    assert arrivals == sorted(arrivals) and 12 * 3600 < arrivals[-1] < 16 * 3600
    assert all(row[4] == row[7] <= 10 * 12 and 0 <= row[3] <= row[8] and 300 <= row[8] <= 1800 for row in rows)


def test_the_sizes_are_as_often_as_published() -> None:
    found = Counter(int(row[4]) for row in draw(20_000, HOURS))
    assert sum(SIZES.values()) == OF
    for size, count in SIZES.items():
        assert abs(found[size] / 20_000 - count / OF) < 0.02, size
