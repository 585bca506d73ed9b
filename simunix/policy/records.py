"""What a policy sees of a cluster at a decision: jobs, nodes, and what has become of its earlier decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf


@dataclass(frozen=True)
class Job:
    """A job as the RJMS describes it. Times are seconds since the Unix epoch; `limit_s` is infinite without a time limit.

    `cores` and `nodes` are what the job asks for, or has if it runs: `nodes` is the least number of nodes. `placed` has
    the number of the job's cores on each node on which the job runs or ran. `start_s` is None before the start, `end_s`
    before the end. `state` is the RJMS's own word.
    """

    id: str
    name: str
    user: str
    account: str
    partition: str
    cores: int
    nodes: int
    limit_s: float
    submit_s: float
    state: str
    start_s: float | None = None
    end_s: float | None = None
    placed: Mapping[str, int] = field(default_factory=dict)

    @property
    def latest_end_s(self) -> float:
        """When the RJMS ends the job at the latest: its start plus its time limit. Infinite for a job that has not started."""
        return inf if self.start_s is None else self.start_s + self.limit_s


@dataclass(frozen=True)
class Node:
    """A node. `free` of its `cores` are not allocated; 0 are free on a node that takes no jobs (down, drained, off).

    `state` is the RJMS's own word.
    """

    name: str
    cores: int
    free: int
    state: str
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True)
class State:
    """The state of a cluster at a decision, `now` in seconds since the Unix epoch.

    `waiting` has the jobs that the policy may start, by submission, then number; `running` those that run, by start;
    `ended` those that have ended since the last decision. `refused` says, by job, why the RJMS has not done what the
    policy decided last time. `history` has all jobs that ended before, the last one last.
    """

    now: float
    waiting: Sequence[Job]
    running: Sequence[Job]
    nodes: Sequence[Node]
    ended: Sequence[Job] = ()
    refused: Mapping[str, str] | None = None
    history: Sequence[Job] = ()
