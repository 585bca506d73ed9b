"""When jobs would start on an idealised machine: first come, first served with EASY back-filling, a list of processors.

D. Lifka: The ANL/IBM SP scheduling system, JSSPP 1995; as A. Mu'alem, D. Feitelson describe it (Utilization, predictability,
workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling, IEEE TPDS 12, 2001): jobs start in the order
of their submission. When the first in the queue does not fit, it has a reservation for the moment at which enough processors
will be free if all running jobs take as long as they asked for; later jobs start before it if they do not delay that.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(slots=True)
class _Machine:
    """Free processors; running jobs as (moment, place in the workload), by their ends, and by what they asked for."""

    free: int
    ends: list[tuple[float, int]] = field(default_factory=list)
    promised: dict[int, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Schedule:
    """Columns of the jobs, in any unit of time, and what has been decided of them."""

    runtime: Sequence[float]
    requested: Sequence[float]
    size: Sequence[int]
    machine: _Machine
    starts: list[float]
    queue: list[int] = field(default_factory=list)

    def start(self, job: int, now: float) -> None:
        """Run it from now on."""
        self.starts[job] = now
        self.machine.free -= self.size[job]
        heapq.heappush(self.machine.ends, (now + self.runtime[job], job))
        self.machine.promised[job] = now + self.requested[job]

    def release(self, now: float) -> bool:
        """Take jobs that have ended off the machine; whether there were any."""
        before = self.machine.free
        while self.machine.ends and self.machine.ends[0][0] <= now:
            _, job = heapq.heappop(self.machine.ends)
            self.machine.free += self.size[job]
            del self.machine.promised[job]
        return self.machine.free > before

    def reservation(self, job: int) -> tuple[float, int]:
        """When the job can start at the latest, and how many processors are free beside it then."""
        free, promised = self.machine.free, sorted((end, running) for running, end in self.machine.promised.items())
        for end, running in promised:
            free += self.size[running]
            if free >= self.size[job]:
                return end, free - self.size[job]
        raise AssertionError("a job that fits the machine fits when it is empty")

    def dispatch(self, now: float, newcomers: int | None) -> None:
        """Start what can start. With `newcomers`, nothing has ended: of a queue that is blocked only so many can be new in."""
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
        """Start jobs of the queue, from a place on, that do not delay the first of it."""
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
    """Moments at which the jobs start, of any order, in the unit of their times; ties of submission in the order given.

    Jobs end at their run times; `requested` is at least that. Raises ValueError for a job larger than the machine, or one
    that runs longer than it asks for.
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
