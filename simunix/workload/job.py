"""A job of a workload. The record is independent of the format that the job was read from."""

from __future__ import annotations

from dataclasses import dataclass

from simunix.workload.request import Request


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a job that does more than sleep: the job program runs `script` on each of the job's `ranks`.

    A job has one rank per core or, with `on_nodes`, one per node. `profile` is the name of the work in reports,
    `output` the path of the job's log.
    """

    profile: str
    script: str
    ranks: int
    output: str
    on_nodes: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A job to submit. Times are seconds from the start of the trace; `cores` is the job's size on the emulated cluster.

    `requested_s` is the time limit that the user asked for; infinity is no limit. The fields from `user` to `wait_s`
    are those of the Standard Workload Format; -1 is an unknown value. `name` is the trace's name of the job, if that is
    no number. `request` has the further wishes in a job table; the RJMS then gets these.
    """

    id: int
    submit_s: float
    runtime_s: float
    requested_s: float
    cores: int
    user: int = -1
    group: int = -1
    executable: int = -1
    queue: int = -1
    partition: int = -1
    preceding: int = -1
    think_s: float = -1
    wait_s: float = -1
    name: str = ""
    work: Work | None = None
    request: Request | None = None


@dataclass(frozen=True, slots=True)
class SkippedJob:
    """A job of the trace that cannot be submitted, with the reason."""

    id: int
    submit_s: float
    reason: str
