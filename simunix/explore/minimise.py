"""Minimises a capsule: leaves out changed random numbers, then faults, then choices, as long as the run fails in the
same way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rsg_server.choices.source import Choice
from rsg_server.choices.strategies import Recorded
from simunix.explore.attempt import RUN, Attempt, Outcome
from simunix.explore.capsule import Capsule
from simunix.explore.pool import Pool, kept
from simunix.explore.shrink import shrink
from simunix.launch.interrupts import Interrupts
from simunix.launch.run_directory import remove_tree

Event = dict[str, Any]


@dataclass(slots=True)
class Minimised:
    """The result: a smaller capsule, the number of runs that were made, and whether the time was up before the
    minimising was done.
    """

    capsule: Capsule
    runs: int = 0
    is_cut_short: bool = False


class Minimiser:
    """Tries smaller runs in folders below `directory`; the run of the smallest failing one is kept in `run`."""

    def __init__(
        self,
        scenario: Path,
        capsule: Capsule,
        directory: Path,
        run: Path,
        *,
        plain_seed: int,
        jobs: int,
        seconds: float,
        interrupts: Interrupts,
        tick: Callable[[str], None],
    ) -> None:
        self._scenario, self._run, self._plain_seed = scenario, run, plain_seed
        self._pool: Pool[int] = Pool(directory, jobs, interrupts)
        self._interrupts, self._tick = interrupts, tick
        self._until = time.monotonic() + seconds
        self.result = Minimised(capsule)

    def minimise(self) -> Minimised:
        """Leave out faults and choices until none can be left out any more, or the time is up."""
        capsule = self.result.capsule
        if capsule.random_seed != self._plain_seed:
            self._first([replace(capsule, random_seed=self._plain_seed)])
        if capsule.events:
            shrink(capsule.events, self._with_events)
        shrink(self.result.capsule.choices, self._with_choices)
        self._pool.close()
        self._drop_others()
        return self.result

    @property
    def _is_over(self) -> bool:
        if time.monotonic() < self._until and not self._interrupts.came:
            return False
        self.result.is_cut_short = True
        return True

    def _with_events(self, candidates: list[list[Event]]) -> list[Event] | None:
        """Return the first candidate whose faults still make the run fail."""
        best = self._first([replace(self.result.capsule, events=tuple(each)) for each in candidates])
        return None if best is None else list(best.events)

    def _with_choices(self, candidates: list[list[Choice]]) -> list[Choice] | None:
        """Return the choices that were made in the run of the first candidate that still fails."""
        best = self._first([replace(self.result.capsule, choices=tuple(each)) for each in candidates])
        return None if best is None else list(best.choices)

    def _first(self, candidates: Sequence[Capsule]) -> Capsule | None:
        """Return the first of several candidates, in their order, that fails in the same way; it becomes the result."""
        waiting = list(enumerate(candidates))
        found: dict[int, Outcome | None] = {}
        while (waiting or len(self._pool)) and not self._is_over:
            while waiting and not self._pool.is_full:
                number, candidate = waiting.pop(0)
                self._pool.start(number, self._attempt(candidate))
            for number, outcome, folder in self._pool.ended(self._say):
                self.result.runs += 1
                is_failing = self.result.capsule.signature in outcome.signatures and not outcome.problem
                found[number] = outcome if is_failing else None
                if is_failing:
                    kept(folder / RUN, self._run.with_name(f"{self._run.name}.{number}"))
            best = self._settled(candidates, found)
            if best is not None:
                return best
        return None

    def _settled(self, candidates: Sequence[Capsule], found: dict[int, Outcome | None]) -> Capsule | None:
        """Return the first failing candidate, if all candidates before it are known to pass."""
        for number, candidate in enumerate(candidates):
            if number not in found:
                return None
            outcome = found[number]
            if outcome is not None:
                self._pool.close()
                kept(self._run.with_name(f"{self._run.name}.{number}"), self._run)
                self._drop_others()
                self.result.capsule = replace(
                    candidate,
                    choices=outcome.taken,
                    count=outcome.choices,
                    digest=outcome.digest,
                    findings=outcome.findings,
                )
                return self.result.capsule
        return None

    def _drop_others(self) -> None:
        """Remove the runs of candidates that have failed in the same way and are not the result."""
        for other in self._run.parent.glob(f"{self._run.name}.*"):
            remove_tree(other)

    def _attempt(self, capsule: Capsule) -> Attempt:
        return Attempt(self._scenario, capsule.overrides, capsule.random_seed, capsule.events, Recorded(capsule.choices))

    def _say(self) -> None:
        capsule = self.result.capsule
        self._tick(f"minimising: {len(capsule.events)} faults, {len(capsule.choices)} choices, {self.result.runs} runs")
