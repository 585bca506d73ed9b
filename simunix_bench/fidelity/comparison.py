"""How far two runs of a script are apart, job by job; and whether a run is as near to real ones as these are to each other."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from simunix_bench.fidelity.records import JobRecord, Run

RESOLUTION_S = 1.0
"""Slurm counts in whole seconds: one moment that falls to one side or the other of a second moves a job by that much."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two runs.

    `start_s` are the differences of start times in seconds, second run less first, by job, of jobs that have begun in both;
    `end_s` of Slurm's end times. `lacking` are the jobs that only one has. `inverted` is the share of pairs of jobs, of those
    whose starts are more than a second apart in both runs, that start in the other order.
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
        """The median of how far starts are apart."""
        return statistics.median(map(abs, self.start_s.values())) if self.start_s else 0.0

    @property
    def most_s(self) -> float:
        """The most that two starts are apart."""
        return max(map(abs, self.start_s.values()), default=0.0)

    @property
    def moved(self) -> tuple[str, ...]:
        """The jobs that have started more than a second apart."""
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
    """Return the share of pairs in the other order. Pairs within a second of each other in either run have no order."""
    pairs = [
        (a - c, b - d)
        for (a, b), (c, d) in itertools.combinations(starts, 2)
        if abs(a - c) > RESOLUTION_S and abs(b - d) > RESOLUTION_S
    ]
    return sum(left * right < 0 for left, right in pairs) / len(pairs) if pairs else 0.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """A run beside real ones.

    `nearest` is the real run from which it differs least at most. `beyond` are the jobs that are further from each real run
    than Slurm's second and the most that this job differs between two real runs.
    """

    nearest: int
    to_nearest: Difference
    beyond: tuple[str, ...]

    def is_within(self, among_real: Sequence[Difference]) -> bool:
        """Return whether the run differs from a real one no more than two real ones do: states, starts, job by job."""
        return (
            not self.beyond
            and not self.to_nearest.lacking
            and len(self.to_nearest.states) <= max(len(each.states) for each in among_real)
            and self.to_nearest.most_s <= max(each.most_s for each in among_real) + RESOLUTION_S
        )


def judge(run: Run, real: Sequence[Run]) -> Judgement:
    """Compare a run with real ones, of which there are two at least."""
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
    """Compare each two of the runs."""
    return [difference(first, second) for first, second in itertools.combinations(runs, 2)]
