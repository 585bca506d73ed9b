"""Finds the critical pair of a failure: a run that passes, and a run that fails, which differ in one choice or fault.

The method is that of Hermit's `analyze` (github.com/facebookexperimental/hermit): bisect the list of all differences
(faults and choices) between the plain run, which passes, and the run that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rsg_server.choices.source import Choice
from simunix.explore.capsule import Capsule, Event


@dataclass(frozen=True, slots=True)
class Steps:
    """The differences of a run from the plain run: the first faults and the first choices of a capsule."""

    events: tuple[Event, ...]
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A run that passes and a run that fails; the failing run has one step more, its last one."""

    passing: Steps
    failing: Steps

    @property
    def choice(self) -> Choice | None:
        """The choice in which the two runs differ; None if they differ in a fault."""
        return self.failing.choices[-1] if len(self.failing.choices) > len(self.passing.choices) else None

    @property
    def event(self) -> Event | None:
        """The fault in which the two runs differ; None if they differ in a choice."""
        return self.failing.events[-1] if len(self.failing.events) > len(self.passing.events) else None


def steps_of(capsule: Capsule) -> list[Steps]:
    """Return the runs between the plain run and the failing run, each with one step more than the one before; faults
    are added first.
    """
    with_events = [Steps(capsule.events[:count], ()) for count in range(len(capsule.events) + 1)]
    return [*with_events, *(Steps(capsule.events, capsule.choices[:count]) for count in range(1, len(capsule.choices) + 1))]


def critical_pair(steps: Sequence[Steps], fails: Callable[[Steps], bool]) -> Pair | None:
    """Bisect between the first run, which should pass, and the last, which fails; return the critical pair, or None if
    the first run fails as well.
    """
    if len(steps) < 2 or fails(steps[0]):
        return None
    low, high = 0, len(steps) - 1  # the run `low` passes, the run `high` fails
    while high - low > 1:
        middle = (low + high) // 2
        if fails(steps[middle]):
            high = middle
        else:
            low = middle
    return Pair(steps[low], steps[high])
