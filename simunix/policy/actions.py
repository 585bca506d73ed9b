"""What a policy can decide."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """The base of all actions."""


@dataclass(frozen=True)
class Start(Action):
    """Start a waiting job now, on these nodes, given by name."""

    job: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Release(Action):
    """Leave a waiting job to the RJMS's own scheduler, with this priority: the highest one first. None: the RJMS's own
    priority.
    """

    job: str
    priority: int | None = None


@dataclass(frozen=True)
class Requeue(Action):
    """End a running job, and put the job back into the queue, where it waits for another decision."""

    job: str


@dataclass(frozen=True)
class Wake(Action):
    """Ask for the next decision at the time `at_s`, in seconds since the Unix epoch, even if nothing happens before."""

    at_s: float
