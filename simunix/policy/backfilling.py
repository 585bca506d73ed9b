"""Policies with backfilling: EASY, conservative, and EASY below a power cap."""

from __future__ import annotations

from collections.abc import Iterable

from simunix.policy.actions import Action, Start
from simunix.policy.horizon import Horizon
from simunix.policy.ordered import ORDERS, Ordered
from simunix.policy.placement import free_cores, place, take
from simunix.policy.records import Job, State


class Easy(Ordered):
    """EASY backfilling (Lifka, JSSPP 1995). Jobs start in order until one does not fit. That job, the head of the queue,
    is promised the first moment at which it fits, if all running jobs last as long as their limits. A later job starts
    now if the head can still start at that moment.

    `order` is the order of the queue: fcfs, sjf, wfp3, unicep, f1, f2, f3, f4. `backfill` is the order in which later
    jobs are tried; by default the same order.
    """

    def __init__(self, order: str = "fcfs", backfill: str = "") -> None:
        self._order = named_order(order)
        self._backfill = named_order(backfill or order)

    def decide(self, state: State) -> Iterable[Action]:
        """See `Policy.decide`."""
        horizon, free = Horizon(state), free_cores(state.nodes)
        queue = self._order.queue(state)
        while queue and (shares := self.place_now(queue[0], free, state)) is not None:
            yield self._start(queue.pop(0), shares, free, horizon)
        if queue:
            later = {job.id for job in queue[1:]}
            candidates = [job for job in self._backfill.queue(state) if job.id in later]
            yield from self._backfilled(queue[0], candidates, free, horizon, state)

    def _backfilled(
        self, head: Job, candidates: list[Job], free: dict[str, int], horizon: Horizon, state: State
    ) -> Iterable[Action]:
        """Start those candidates after which the head can still start at the moment that it is promised."""
        promise = horizon.first_fit(head)
        at_start = None if promise is None else horizon.free_during(promise[0], head.limit_s)
        for job in candidates:
            shares = self.place_now(job, free, state)
            if shares is None:
                continue
            if promise is not None and at_start is not None and state.now + job.limit_s > promise[0]:
                left = {name: cores - shares.get(name, 0) for name, cores in at_start.items()}
                if place(head, left) is None:
                    self.give_back(job)
                    continue
                at_start = left
            yield self._start(job, shares, free, horizon)

    def place_now(self, job: Job, free: dict[str, int], state: State) -> dict[str, int] | None:
        """Return the cores that the job gets if it starts now; None if the job is not to start."""
        return place(job, free)

    def give_back(self, job: Job) -> None:
        """Forget that a job was placed: it does not start."""

    def _start(self, job: Job, shares: dict[str, int], free: dict[str, int], horizon: Horizon) -> Start:
        take(shares, free)
        horizon.reserve(shares, horizon.now, job.limit_s)
        return Start(job.id, tuple(shares))


class Conservative(Ordered):
    """Conservative backfilling: each job in turn is promised the first moment at which it fits without delaying a job
    before it; the jobs whose moment is now start. Promises are made anew at each decision.

    `order` is the order of the queue, as for EASY; `depth` is the number of jobs that are looked at.
    """

    def __init__(self, order: str = "fcfs", depth: int = 100) -> None:
        self._order = named_order(order)
        self._depth = int(depth)

    def decide(self, state: State) -> Iterable[Action]:
        """See `Policy.decide`."""
        horizon = Horizon(state)
        for job in self._order.queue(state)[: self._depth]:
            promise = horizon.first_fit(job)
            if promise is None:
                continue
            begin, shares = promise
            horizon.reserve(shares, begin, job.limit_s)
            if begin <= state.now:
                yield Start(job.id, tuple(shares))


class CappedEasy(Easy):
    """EASY that starts no job if the nodes would draw more than `cap` watts: each node draws `idle` watts, and each
    allocated core `core` watts more.
    """

    def __init__(self, cap: float, idle: float, core: float, order: str = "fcfs") -> None:
        super().__init__(order)
        self._cap, self._idle, self._core = float(cap), float(idle), float(core)
        self._taken = 0

    def decide(self, state: State) -> Iterable[Action]:
        """See `Policy.decide`."""
        self._taken = sum(job.cores for job in state.running)
        return super().decide(state)

    def place_now(self, job: Job, free: dict[str, int], state: State) -> dict[str, int] | None:
        """See `Easy.place_now`."""
        watts = self._idle * len(state.nodes) + self._core * (self._taken + job.cores)
        shares = place(job, free) if watts <= self._cap else None
        if shares is not None:
            self._taken += job.cores
        return shares

    def give_back(self, job: Job) -> None:
        """See `Easy.give_back`."""
        self._taken -= job.cores


def named_order(name: str) -> Ordered:
    """Return a new order of the queue by its name. Raises ValueError for another name."""
    if name not in ORDERS:
        raise ValueError(f"order: {name!r} is no order of the queue; expected {', '.join(ORDERS)}")
    return ORDERS[name]()
