"""Compute the start times of jobs under EASY back-filling on an idealised machine, which is a number of equal
processors.

See D. Lifka: The ANL/IBM SP scheduling system, JSSPP 1995, in the description of A. Mu'alem and D. Feitelson
(Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling, IEEE
TPDS 12, 2001). Jobs start in the order of their submission. If the first job of the queue does not fit, it gets a
reservation for the moment at which enough processors will be free if all running jobs take as long as they asked for.
Later jobs start before the first one if they do not delay it.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(slots=True)
class _Machine:
    """The machine: its free processors, a heap of (end, job) of the running jobs, and the expected end of each of them.

    A job is represented by its index in the workload; its expected end is its start plus its requested time.
    """

    free: int
    ends: list[tuple[float, int]] = field(default_factory=list)
    promised: dict[int, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Schedule:
    """The columns of the jobs, with times in any one unit, and the state of the schedule: the queue, and the starts so
    far.
    """

    runtime: Sequence[float]
    requested: Sequence[float]
    size: Sequence[int]
    machine: _Machine
    starts: list[float]
    queue: list[int] = field(default_factory=list)

    def start(self, job: int, now: float) -> None:
        """Start a job at the moment `now`."""
        self.starts[job] = now
        self.machine.free -= self.size[job]
        heapq.heappush(self.machine.ends, (now + self.runtime[job], job))
        self.machine.promised[job] = now + self.requested[job]

    def release(self, now: float) -> bool:
        """Free the processors of the jobs that have ended by the moment `now`; return whether any has."""
        before = self.machine.free
        while self.machine.ends and self.machine.ends[0][0] <= now:
            _, job = heapq.heappop(self.machine.ends)
            self.machine.free += self.size[job]
            del self.machine.promised[job]
        return self.machine.free > before

    def reservation(self, job: int) -> tuple[float, int]:
        """Return the latest moment at which the first job of the queue will start, and how many processors it leaves
        free then.
        """
        free, promised = self.machine.free, sorted((end, running) for running, end in self.machine.promised.items())
        for end, running in promised:
            free += self.size[running]
            if free >= self.size[job]:
                return end, free - self.size[job]
        raise AssertionError("a job that fits the machine fits when it is empty")

    def dispatch(self, now: float, newcomers: int | None) -> None:
        """Start every job that can start at the moment `now`.

        `newcomers` is the number of jobs that have just been submitted, None if any job has ended. While no job ends, a queue
        whose first job is blocked stays blocked, and only the newcomers can be back-filled.
        """
        was_blocked = newcomers is not None and len(self.queue) > newcomers
        if not was_blocked:
            first = 0
            while first < len(self.queue) and self.size[self.queue[first]] <= self.machine.free:
                self.start(self.queue[first], now)
                first += 1
            del self.queue[:first]
        if len(self.queue) > 1 and self.machine.free:
            self._fill(now, max(1, len(self.queue) - newcomers) if was_blocked and newcomers is not None else 1)

    def _fill(self, now: float, first: int) -> None:
        """Back-fill: start the jobs of the queue, from the place `first` on, that do not delay the first job of the queue."""
        latest, beside = self.reservation(self.queue[0])
        started = set()
        for job in self.queue[first:]:
            if self.size[job] > self.machine.free:
                continue
            is_over_in_time = now + self.requested[job] <= latest
            if not is_over_in_time and self.size[job] > beside:
                continue
            beside -= 0 if is_over_in_time else self.size[job]
            self.start(job, now)
            started.add(job)
        if started:
            self.queue = [job for job in self.queue if job not in started]


def easy_starts(
    submit: np.ndarray, runtime: np.ndarray, requested: np.ndarray, size: np.ndarray, processors: int
) -> np.ndarray:
    """Return the moment at which each job starts, in the order of the arguments and in the unit of their times.

    The jobs may be in any order; jobs submitted at one moment are queued in the order given. Raises ValueError for a job that
    is larger than the machine, or whose run time exceeds its requested time.
    """
    if len(submit) and (size.max() > processors or size.min() < 1):
        raise ValueError(f"sizes: expected 1 to {processors}, got {size.min()} to {size.max()}")
    if (requested < runtime).any():
        raise ValueError("requested: expected at least the run times")
    schedule = _Schedule(runtime.tolist(), requested.tolist(), size.tolist(), _Machine(processors), [np.nan] * len(submit))
    order = np.argsort(submit, kind="stable").tolist()
    moments = submit.tolist()
    come = 0
    while come < len(order) or schedule.queue:
        ends = schedule.machine.ends
        coming = moments[order[come]] if come < len(order) else np.inf
        now = min(coming, ends[0][0]) if ends else coming
        has_ended = schedule.release(now)
        before = come
        while come < len(order) and moments[order[come]] <= now:
            schedule.queue.append(order[come])
            come += 1
        schedule.dispatch(now, None if has_ended else come - before)
    return np.array(schedule.starts)
