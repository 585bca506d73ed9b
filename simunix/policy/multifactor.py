"""Slurm's multifactor priority computed by a policy: jobs are released with a priority, and the RJMS starts them."""

from __future__ import annotations

from collections.abc import Iterable
from math import pow

from simunix.policy.actions import Action, Release
from simunix.policy.base import Policy
from simunix.policy.records import Job, State


class Multifactor(Policy):
    """Leaves all jobs to the RJMS's own scheduler, with a priority of weighted factors between 0 and 1.

    * `age`: the weight of the time since the submission, divided by `max_age_s` (Slurm's PriorityMaxAge), at most 1;
    * `size`: the weight of the job's cores divided by the cluster's;
    * `fairshare`: the weight of 2^(-use), where `use` is the user's part of all core-seconds, each worth half after
      `half_life_s`, divided by an equal part for each user (Slurm's classic formula for equal shares).

    The priority is that at the moment of the decision: a job that was released keeps it.
    """

    def __init__(
        self,
        age: float = 1000,
        size: float = 1000,
        fairshare: float = 10000,
        max_age_s: float = 604800,
        half_life_s: float = 604800,
    ) -> None:
        self._age, self._size, self._fairshare = float(age), float(size), float(fairshare)
        self._max_age_s, self._half_life_s = float(max_age_s), float(half_life_s)

    def decide(self, state: State) -> Iterable[Action]:
        """See `Policy.decide`."""
        use = self._use(state)
        cores = sum(node.cores for node in state.nodes)
        for job in state.waiting:
            age = min((state.now - job.submit_s) / self._max_age_s, 1.0)
            part = use.get(job.user, 0.0)
            factors = self._age * age + self._size * job.cores / max(cores, 1) + self._fairshare * 2.0**-part
            yield Release(job.id, 1 + round(factors))

    def _use(self, state: State) -> dict[str, float]:
        """Return each user's use, divided by an equal part for each user."""
        use: dict[str, float] = {}
        for job in (*state.history, *state.ended, *state.running):
            use[job.user] = use.get(job.user, 0.0) + self._weighed(job, state.now)
        users = {job.user for job in state.waiting} | set(use)
        total = sum(use.values())
        return {user: used / total * len(users) for user, used in use.items()} if total else {}

    def _weighed(self, job: Job, now: float) -> float:
        """Return a job's core-seconds, each worth half as much after `half_life_s`."""
        if job.start_s is None:
            return 0.0
        end_s = now if job.end_s is None else job.end_s
        return job.cores * (end_s - job.start_s) * pow(2.0, (end_s - now) / self._half_life_s)
