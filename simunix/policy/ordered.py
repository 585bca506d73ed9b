"""Policies that start jobs in an order, and stop at the first one that does not fit: FCFS, and others by the order."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2, log10, sqrt

from simunix.policy.actions import Action, Start
from simunix.policy.base import Policy
from simunix.policy.placement import free_cores, place, take
from simunix.policy.records import Job, State

DAY_S = 86400.0


class Ordered(Policy):
    """Starts waiting jobs by the least `score`, then by submission; the first one that does not fit stops all others."""

    def score(self, job: Job, now: float) -> float:
        """Return the job's place in the queue: the job with the least number comes first."""
        return 0.0

    def queue(self, state: State) -> list[Job]:
        """Return the waiting jobs in the policy's order; of equal scores, the earlier submission comes first."""
        return sorted(state.waiting, key=lambda job: self.score(job, state.now))

    def decide(self, state: State) -> Iterable[Action]:
        """See `Policy.decide`."""
        free = free_cores(state.nodes)
        for job in self.queue(state):
            shares = place(job, free)
            if shares is None:
                return
            take(shares, free)
            yield Start(job.id, tuple(shares))


class Fcfs(Ordered):
    """First come, first served."""


def estimate_s(job: Job) -> float:
    """Return the run time that orders use: the job's time limit; a day for a job without a limit."""
    return min(job.limit_s, DAY_S)


class Sjf(Ordered):
    """Shortest job first, by time limit."""

    def score(self, job: Job, now: float) -> float:
        """See `Ordered.score`."""
        return estimate_s(job)


class Wfp3(Ordered):
    """The queue order WFP3 (Tang, Lan, Desai, Buettner, Cluster 2009): the greatest (wait / time limit)^3 * cores first."""

    def score(self, job: Job, now: float) -> float:
        """See `Ordered.score`."""
        return -(((now - job.submit_s) / estimate_s(job)) ** 3) * job.cores


class Unicep(Ordered):
    """The queue order UNICEP (Tang et al., Cluster 2009, as UNICEF): the greatest wait / (log2(cores) * time limit) first.

    A job of one core counts as a job of two.
    """

    def score(self, job: Job, now: float) -> float:
        """See `Ordered.score`."""
        return -(now - job.submit_s) / (log2(max(job.cores, 2)) * estimate_s(job))


class Nonlinear(Ordered):
    """The base of F1 to F4 (Carastan-Santos, de Camargo, SC 2017): functions of time limit r in seconds, cores n, and
    submission s in seconds after the first submission, found by regression. The least comes first.
    """

    def __init__(self) -> None:
        self._first_s: float | None = None

    def queue(self, state: State) -> list[Job]:
        """See `Ordered.queue`."""
        if self._first_s is None and state.waiting:
            self._first_s = min(job.submit_s for job in state.waiting)
        return super().queue(state)

    def submitted_s(self, job: Job) -> float:
        """Return the submission in seconds after the first submission; at least 1, since the functions have its logarithm."""
        return max(job.submit_s - (self._first_s or 0.0), 1.0)


class F1(Nonlinear):
    """log10(r) * n + 870 * log10(s)."""

    def score(self, job: Job, now: float) -> float:
        """See `Ordered.score`."""
        return log10(estimate_s(job)) * job.cores + 870 * log10(self.submitted_s(job))


class F2(Nonlinear):
    """sqrt(r) * n + 25,600 * log10(s)."""

    def score(self, job: Job, now: float) -> float:
        """See `Ordered.score`."""
        return sqrt(estimate_s(job)) * job.cores + 25_600 * log10(self.submitted_s(job))


class F3(Nonlinear):
    """r * n + 6,860,000 * log10(s)."""

    def score(self, job: Job, now: float) -> float:
        """See `Ordered.score`."""
        return estimate_s(job) * job.cores + 6_860_000 * log10(self.submitted_s(job))


class F4(Nonlinear):
    """r * sqrt(n) + 530,000 * log10(s)."""

    def score(self, job: Job, now: float) -> float:
        """See `Ordered.score`."""
        return estimate_s(job) * sqrt(job.cores) + 530_000 * log10(self.submitted_s(job))


ORDERS: dict[str, type[Ordered]] = {
    "fcfs": Fcfs,
    "sjf": Sjf,
    "wfp3": Wfp3,
    "unicep": Unicep,
    "f1": F1,
    "f2": F2,
    "f3": F3,
    "f4": F4,
}
"""The orders of the queue by name. Each is also a policy that starts jobs strictly in this order."""
