"""A job of a workload, whatever format it came from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Work:
    """What a job does other than sleep: the `script` of the job program for its `ranks`, one a core (or one a node).

    `profile` is its name for reports, `output` where its log goes.
    """

    profile: str
    script: str
    ranks: int
    output: str
    on_nodes: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """Times in seconds from the start of the trace. `cores` is what is asked for on the emulated cluster.

    The rest is what the trace says of whose job it was and of what it followed; -1 is unknown. No limit is a
    `requested_s` of infinity. `name` is what the trace calls it where that is no number.
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


@dataclass(frozen=True, slots=True)
class SkippedJob:
    """A job of the trace that cannot be submitted, and why."""

    id: int
    submit_s: float
    reason: str
