"""Compute the content of a report on several runs: numbers, curves over time, distributions, and the jobs of all runs
side by side.

All metrics are those of `simunix.metrics`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from simunix.metrics.changes import KEY, keyed
from simunix.metrics.fairness import user_table
from simunix.metrics.jobs import FINISHED
from simunix.metrics.per_job import bounded_slowdown, waiting_time
from simunix.metrics.series import busy_gpus, busy_processors, mean_over_bins, queued_jobs
from simunix.report.run_data import Run
from simunix.results.machines import parse_intervals

POINTS_MAX = 2000
"""The most points of a curve. A curve with more changes becomes the means over this many equal intervals."""
DENSE = 60_000
"""A Gantt chart with more rectangles than this is replaced by a picture of the share of busy cores."""
COLUMNS, ROWS_MAX = 1200, 400
"""The largest width and height, in cells, of the picture of busy cores."""


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves with common abscissae `x`: one array of ordinates per run.

    If `bin_s` is given, the ordinates are means over bins of this many seconds.
    """

    x: np.ndarray
    y: list[np.ndarray]
    bin_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangles:
    """A Gantt chart. Each rectangle is a job on the cores `low` to `high`; `job` is the job's row in the comparison's
    table.

    `total` is the number of rectangles before the smallest are left out. `density` (see `occupancy`) is given for more than
    DENSE.
    """

    job: np.ndarray
    low: np.ndarray
    high: np.ndarray
    total: int
    cores: int
    density: np.ndarray | None = None


class Comparison:
    """Several runs side by side."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = list(runs)

    @cached_property
    def end_s(self) -> float:
        """The last moment, in virtual seconds, of any run's jobs or of the runs themselves."""
        ends = [float(run.jobs[["submission_time", "finish_time"]].max().max()) for run in self.runs if run.jobs is not None]
        ends = [end for end in ends if end == end] or [float(run.record.get("virtual_s") or 0) for run in self.runs]
        return max([1.0, *ends])

    def summaries(self) -> list[pd.Series]:
        """The result of `simunix.metrics.schedule.summary` for each run, over the jobs that count; empty for a run
        without jobs.
        """
        return [run.summary for run in self.runs]

    @cached_property
    def users(self) -> pd.DataFrame:
        """The tables `simunix.metrics.fairness.user_table` of all runs, side by side, in columns NAME.i; users with the
        most work come first.
        """
        sides = [
            user_table(run.counted).set_index("user").add_suffix(f".{number}")
            for number, run in enumerate(self.runs)
            if run.counted is not None
        ]
        if not sides:
            return pd.DataFrame()
        table = pd.concat(sides, axis=1)
        most = table.filter(regex=r"^work\.").max(axis=1)
        return table.assign(most=most).sort_values("most", ascending=False, kind="stable").drop(columns="most")

    # Over time

    def utilisation(self) -> Curves:
        """Return the share of the processors that jobs hold over time, in per cent, for each run."""
        return self._over_time(lambda run, jobs: busy_processors(jobs[jobs["starting_time"].notna()]) * 100 / run.processors)

    def queue(self) -> Curves:
        """Return the number of jobs submitted and not yet started over time, for each run."""
        return self._over_time(lambda run, jobs: queued_jobs(jobs[jobs["submission_time"].notna()]))

    def gpus(self) -> Curves | None:
        """Return the number of GPUs that jobs hold over time, for each run; None if no run's jobs are known to have
        GPUs.
        """
        jobs = [run.jobs for run in self.runs if run.jobs is not None]
        if not any((one["allocated_gpus"] > 0).any() for one in jobs):
            return None
        return self._over_time(lambda run, jobs: busy_gpus(jobs[jobs["starting_time"].notna()]))

    def _over_time(self, curve: Callable[[Run, pd.DataFrame], pd.Series]) -> Curves:
        steps = [curve(run, run.jobs) if run.jobs is not None else None for run in self.runs]
        known = [one.index.to_numpy(dtype=float) for one in steps if one is not None]
        moments = np.unique(np.concatenate([[0.0, self.end_s], *known]))
        if len(moments) <= POINTS_MAX:
            return Curves(moments, [_at(one, moments) for one in steps])
        edges = np.linspace(0.0, self.end_s, POINTS_MAX + 1)
        return Curves(edges, [_binned(one, edges) for one in steps], self.end_s / POINTS_MAX)

    # Distributions

    def waits(self) -> Curves:
        """Return, for each run, the share of the started jobs, in per cent, that waited for at most x seconds."""
        return self._distribution(waiting_time)

    def slowdowns(self) -> Curves:
        """Return, for each run, the share of the finished jobs, in per cent, whose bounded slowdown is at most x."""
        return self._distribution(bounded_slowdown)

    def wait_changes(self) -> Curves | None:
        """Return, for each run, the share of the jobs, in per cent, that waited at most x seconds longer than in the
        first run.

        Jobs that started in both runs count. None if no other run has a job in common with the first; the curve of the first
        run is empty.
        """
        table, first = self.table, "wait.0"
        waits = [f"wait.{number}" for number in range(1, len(self.runs))]
        if first not in table or not waits:
            return None
        counted = table[first].where(self._counts(0))
        values = [np.empty(0)]
        for number, name in enumerate(waits, 1):
            change = table[name].where(self._counts(number)) - counted if name in table else pd.Series(dtype=float)
            values.append(np.sort(change.dropna().to_numpy()))
        return distribution(values) if any(len(one) for one in values) else None

    def wait_differences(self) -> list[pd.Series | None]:
        """Return, for each run and each row of the table, the wait minus that of the first run; None for the first run."""
        first = self.table.get("wait.0")
        waits = [self.table.get(f"wait.{number}") for number in range(len(self.runs))]
        return [None if not number or first is None or one is None else one - first for number, one in enumerate(waits)]

    def _counts(self, number: int) -> np.ndarray:
        """Return, for each row of the comparison's table, whether the job counts in run `number`."""
        jobs, counted = self.runs[number].jobs, self.runs[number].counted
        if jobs is None or counted is None:
            return np.zeros(len(self.table), dtype=bool)
        keys = pd.MultiIndex.from_frame(keyed(jobs).loc[counted.index, list(KEY)])
        found: np.ndarray = pd.MultiIndex.from_frame(self.table[list(KEY)]).isin(keys)
        return found

    def _distribution(self, metric: Callable[[pd.DataFrame], pd.Series]) -> Curves:
        return distribution(
            [np.sort(metric(run.counted).dropna().to_numpy()) if run.counted is not None else np.empty(0) for run in self.runs]
        )

    # Job by job

    @cached_property
    def table(self) -> pd.DataFrame:
        """The table of all jobs of any run: workload_name, job_id, cores, and, for run number i, the columns NAME.i of
        `PER_RUN`.
        """
        frames = [_side(run.jobs, number) for number, run in enumerate(self.runs) if run.jobs is not None]
        if not frames:
            return pd.DataFrame({name: [] for name in (*KEY, "cores")})
        found = frames[0]
        for frame in frames[1:]:
            found = found.join(frame, how="outer", sort=False)
        cores = pd.concat([found[name] for name in found if str(name).startswith("cores.")], axis=1)
        found = found.assign(cores=cores.bfill(axis=1).iloc[:, 0], order=np.arange(len(found)))
        submitted = [name for name in found if str(name).startswith("submit.")]
        return found.assign(first=found[submitted].min(axis=1)).sort_values(["first", "order"], kind="stable").reset_index()

    def rectangles(self, number: int, most: int) -> Rectangles | None:
        """Return the Gantt chart of a run with its `most` largest rectangles; None if the cores of its jobs are
        unknown.
        """
        jobs = self.runs[number].jobs
        if jobs is None:
            return None
        ran = jobs[jobs[FINISHED] & (jobs["allocated_resources"] != "")]
        places = pd.Series(np.arange(len(self.table)), index=pd.MultiIndex.from_frame(self.table[list(KEY)]))
        keys = pd.MultiIndex.from_frame(keyed(jobs)[list(KEY)])[jobs.index.get_indexer(ran.index)]
        found: list[tuple[int, int, int]] = []
        for place, text in zip(places.reindex(keys).tolist(), ran["allocated_resources"].tolist(), strict=True):
            try:
                found += [(place, low, high) for low, high in parse_intervals(text)]
            except ValueError:
                continue
        if not found:
            return None
        job, low, high = np.array(found, dtype=np.int64).T
        total = len(job)
        machines = self.runs[number].machines
        cores = max(machines.total if machines else 0, int(high.max()) + 1)
        begin, end = self.table[f"start.{number}"].to_numpy()[job], self.table[f"finish.{number}"].to_numpy()[job]
        density = occupancy(begin, end, low, high + 1, self.end_s, cores) if total > DENSE else None
        if total > most:
            length = end - begin
            kept = np.sort(np.argsort(-length * (high - low + 1), kind="stable")[:most])
            job, low, high = job[kept], low[kept], high[kept]
        return Rectangles(job=job, low=low, high=high, total=total, cores=cores, density=density)


PER_RUN = ("submit", "start", "finish", "wait", "slowdown", "energy", "state")
"""Columns of the table for each run; `wait` and `slowdown` (bounded) are those of `simunix.metrics`, all times in seconds,
`energy` in joules."""


def occupancy(
    begin: np.ndarray,
    end: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    end_s: float,
    cores: int,
    shape: tuple[int, int] | None = None,
) -> np.ndarray:
    """Return, for each cell of a picture of [0, end_s) × [0, cores), the share that rectangles of busy cores [begin,
    end) × [low, high) cover.

    The coverage of one rectangle is the outer product of the parts of columns and of rows that it covers. Each of these
    changes at four cells at most. The picture is the sum of these changes, cumulated along both axes.
    """
    rows, columns = shape or (min(ROWS_MAX, cores), COLUMNS)
    picture = np.zeros((rows + 2) * (columns + 2))
    for row, across in _changes(low, high, cores, rows):
        for column, along in _changes(begin, end, end_s, columns):
            picture += np.bincount(row * (columns + 2) + column, weights=across * along, minlength=len(picture))
    summed: np.ndarray = picture.reshape(rows + 2, columns + 2).cumsum(axis=0).cumsum(axis=1)
    return summed[:rows, :columns]


def _changes(begin: np.ndarray, end: np.ndarray, extent: float, bins: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (bin, change of the covered share there) for intervals over [0, extent) in equal bins."""
    found = []
    for edge, sign in ((begin, 1.0), (end, -1.0)):
        place = np.clip(np.asarray(edge, dtype=float) * bins / extent, 0, bins)
        whole = np.floor(place).astype(np.int64)
        found += [(whole, sign * (1 - (place - whole))), (whole + 1, sign * (place - whole))]
    return found


def distribution(values: Sequence[np.ndarray]) -> Curves:
    """Return, for each run, the share of its sorted values, in per cent, that are at most x."""
    picked = [one[np.unique(np.linspace(0, len(one) - 1, POINTS_MAX).astype(int))] for one in values if len(one)]
    x = np.unique(np.concatenate([np.empty(0), *picked]))
    if len(x) == 0:
        return Curves(x, [x for _ in values])
    nothing = np.full(len(x), np.nan)
    return Curves(x, [100 * np.searchsorted(one, x, "right") / len(one) if len(one) else nothing for one in values])


def _side(jobs: pd.DataFrame, number: int) -> pd.DataFrame:
    columns = {
        "submit": jobs["submission_time"],
        "start": jobs["starting_time"],
        "finish": jobs["finish_time"],
        "wait": waiting_time(jobs),
        "slowdown": bounded_slowdown(jobs),
        "energy": jobs["consumed_energy"],
        "state": jobs["final_state"],
        "cores": jobs["requested_number_of_resources"],
    }
    named = {f"{name}.{number}": column for name, column in columns.items()}
    return keyed(jobs)[list(KEY)].assign(**named).set_index(list(KEY))


def _binned(steps: pd.Series | None, edges: np.ndarray) -> np.ndarray:
    """Return the means of a step function over intervals. The last mean occurs twice, so that the curve has an end. NaN
    for a run without the curve.
    """
    if steps is None:
        return np.full(len(edges), np.nan)
    means = mean_over_bins(steps, edges)
    return np.append(means, means[-1])


def _at(steps: pd.Series | None, moments: np.ndarray) -> np.ndarray:
    """Return the values of a step function, 0 before its first step; NaN for a run without the curve."""
    if steps is None:
        return np.full(len(moments), np.nan)
    if steps.empty:
        return np.zeros(len(moments))
    places = np.searchsorted(steps.index.to_numpy(dtype=float), moments, "right") - 1
    values: np.ndarray = np.where(places >= 0, steps.to_numpy(dtype=float)[np.clip(places, 0, None)], 0.0)
    return values
