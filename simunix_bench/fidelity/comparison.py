"""Compute how far two runs of a script are apart, job by job, and whether a run is as near to real runs as real runs
are to each other.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from simunix_bench.fidelity.records import JobRecord, Run

RESOLUTION_S = 1.0
"""The resolution, in seconds, of Slurm's times: a change of a moment across the edge of a second moves a job by that
much.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences between two runs of one script of Slurm commands.

    `start_s` has the differences of start times in seconds (second run minus first run), by job, for jobs that have
    begun in both; `end_s` has those of Slurm's end times. `lacking` are the jobs that only one run has. `inverted` is
    the share of pairs of jobs that start in the other order, among pairs whose starts are more than a second apart in
    both runs.
    """

    start_s: dict[str, float]
    end_s: dict[str, float]
    lacking: tuple[str, ...]
    states: tuple[str, ...]
    nodes: tuple[str, ...]
    restarts: tuple[str, ...]
    inverted: float

    @property
    def median_s(self) -> float:
        """The median of the absolute differences of start times, in seconds."""
        return statistics.median(map(abs, self.start_s.values())) if self.start_s else 0.0

    @property
    def most_s(self) -> float:
        """The largest absolute difference of start times, in seconds."""
        return max(map(abs, self.start_s.values()), default=0.0)

    @property
    def moved(self) -> tuple[str, ...]:
        """The jobs whose starts in the two runs are more than a second apart."""
        return tuple(key for key, apart in self.start_s.items() if abs(apart) > RESOLUTION_S)


def difference(first: Run, second: Run) -> Difference:
    """Compare two runs of one script."""
    one, two = ({job.key: job for job in run.jobs} for run in (first, second))
    common = [key for key in one if key in two]
    pairs = {key: (one[key], two[key]) for key in common}
    starts = {key: (a.started_s, b.started_s) for key, (a, b) in pairs.items()}
    ends = {key: (a.end_s, b.end_s) for key, (a, b) in pairs.items()}
    return Difference(
        {key: b - a for key, (a, b) in starts.items() if a is not None and b is not None},
        {key: float(b - a) for key, (a, b) in ends.items() if a is not None and b is not None},
        tuple(sorted(set(one) ^ set(two))),
        tuple(key for key, (a, b) in pairs.items() if a.state != b.state),
        tuple(key for key, (a, b) in pairs.items() if a.nodes != b.nodes),
        tuple(key for key, (a, b) in pairs.items() if a.restarts != b.restarts),
        inverted([(a, b) for a, b in starts.values() if a is not None and b is not None]),
    )


def inverted(starts: Sequence[tuple[float, float]]) -> float:
    """Return the share of pairs of jobs that start in the other order. Pairs within a second of each other in either
    run have no order.
    """
    pairs = [
        (a - c, b - d)
        for (a, b), (c, d) in itertools.combinations(starts, 2)
        if abs(a - c) > RESOLUTION_S and abs(b - d) > RESOLUTION_S
    ]
    return sum(left * right < 0 for left, right in pairs) / len(pairs) if pairs else 0.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """The comparison of a run with real runs.

    `nearest` is the real run with the smallest largest difference. `beyond` are the jobs that differ from each real run
    by more than Slurm's resolution of a second, and by more than the job differs between any two real runs.
    """

    nearest: int
    to_nearest: Difference
    beyond: tuple[str, ...]

    def is_within(self, among_real: Sequence[Difference]) -> bool:
        """Return whether the run differs from a real run no more than two real runs differ from each other: in states,
        starts, and job by job.
        """
        return (
            not self.beyond
            and not self.to_nearest.lacking
            and len(self.to_nearest.states) <= max(len(each.states) for each in among_real)
            and self.to_nearest.most_s <= max(each.most_s for each in among_real) + RESOLUTION_S
        )


def judge(run: Run, real: Sequence[Run]) -> Judgement:
    """Compare a run with at least two real runs."""
    apart = [difference(each, run) for each in real]
    nearest = min(range(len(real)), key=lambda number: (len(apart[number].moved), apart[number].most_s))
    return Judgement(nearest, apart[nearest], tuple(key for key in apart[0].start_s if _is_beyond(key, run, real)))


def _is_beyond(key: str, run: Run, real: Sequence[Run]) -> bool:
    own = _start(key, run)
    theirs = [moment for each in real if (moment := _start(key, each)) is not None]
    if own is None or not theirs:
        return False
    spread = max(theirs) - min(theirs)
    return min(abs(own - moment) for moment in theirs) > spread + RESOLUTION_S


def _start(key: str, run: Run) -> float | None:
    found: JobRecord | None = next((job for job in run.jobs if job.key == key), None)
    return found.started_s if found is not None else None


def pairs_of(runs: Sequence[Run]) -> list[Difference]:
    """Return the differences between every two runs of a script of Slurm commands."""
    return [difference(first, second) for first, second in itertools.combinations(runs, 2)]
