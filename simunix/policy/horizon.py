"""When cores become free: the running jobs' time limits, and the starts that a policy plans."""

from __future__ import annotations

from bisect import insort
from math import inf

from simunix.policy.placement import Cores, free_cores, place
from simunix.policy.records import Job, State

OVERDUE_S = 1.0
"""How long a job that should have ended is believed to run on: its cores are not free before it has ended."""


class Horizon:
    """The free cores of each node from now on, if every job lasts as long as its time limit.

    Each change of the free cores is a moment with a number of cores by node, which is negative where cores are taken.
    """

    def __init__(self, state: State) -> None:
        self.now = state.now
        self._free = free_cores(state.nodes)
        self._changes: list[tuple[float, int, dict[str, int]]] = []
        """moment, rank of the change (no two are equal), cores"""
        usable = {node.name for node in state.nodes if node.free or node.cores}
        for job in state.running:
            end_s = max(job.latest_end_s, state.now + OVERDUE_S)
            self._add(end_s, {name: cores for name, cores in job.placed.items() if name in usable})

    def _add(self, at_s: float, cores: dict[str, int]) -> None:
        if at_s < inf:
            insort(self._changes, (at_s, len(self._changes), cores))

    def free_at(self, moment: float) -> dict[str, int]:
        """Return the free cores at a moment, after all changes of that moment."""
        free = dict(self._free)
        for at_s, _, cores in self._changes:
            if at_s > moment:
                break
            for name, more in cores.items():
                free[name] = free.get(name, 0) + more
        return free

    def free_during(self, begin: float, length_s: float) -> dict[str, int]:
        """Return the cores of each node that are free from `begin` on for `length_s` seconds without interruption."""
        free = self.free_at(begin)
        least = dict(free)
        for at_s, _, cores in self._changes:
            if at_s <= begin:
                continue
            if at_s >= begin + length_s:
                break
            for name, more in cores.items():
                free[name] = free.get(name, 0) + more
                least[name] = min(least.get(name, 0), free[name])
        return least

    def first_fit(self, job: Job) -> tuple[float, dict[str, int]] | None:
        """Return the first moment at which a job can start and keep its cores for its whole time limit, and the cores;
        None if the job never fits.
        """
        for moment in (self.now, *sorted({at_s for at_s, _, _ in self._changes})):
            shares = place(job, self.free_during(moment, job.limit_s))
            if shares is not None:
                return moment, shares
        return None

    def reserve(self, shares: Cores, begin: float, length_s: float) -> None:
        """Take cores from `begin` on for `length_s` seconds."""
        taken = {name: -cores for name, cores in shares.items()}
        if begin <= self.now:
            for name, cores in taken.items():
                self._free[name] += cores
        else:
            self._add(begin, taken)
        self._add(begin + length_s, dict(shares))
