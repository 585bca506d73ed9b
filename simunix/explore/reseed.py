"""Repeats the run of a capsule up to a moment, and goes on with other seeds, to find how likely the failure is from
that moment on.

A failure that nearly all seeds still have was decided before the moment, and one that hardly any has comes after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rsg_server.choices.strategies import Recorded, Reseeded
from rsg_server.errors import SimunixError
from simunix.explore.attempt import Attempt
from simunix.explore.capsule import SCENARIO, Capsule, folder_of, scenario_capsule
from simunix.explore.pool import Pool
from simunix.explore.seeds import Seed
from simunix.explore.story import moment, story
from simunix.launch.interrupts import Interrupts

STRATEGY = "random"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReseedOptions:
    """The options of the command line: moments in virtual nanoseconds, and how many seeds go on from each moment."""

    capsule: Path
    out: Path
    moments_ns: Sequence[int]
    seeds: int = 20
    jobs: int = 1


def reseed(options: ReseedOptions) -> int:
    """Print for each moment how many of the seeds that go on from there fail. Returns 0, or the exit code of an interrupt."""
    capsule = scenario_capsule(options.capsule)
    print(capsule.signature)
    for line in story(capsule):
        print(f"  {line}")
    with Interrupts() as interrupts:
        pool: Pool[int] = Pool(options.out, options.jobs, interrupts)
        try:
            for at_ns in options.moments_ns:
                failed = failed_from(options, capsule, at_ns, pool, interrupts)
                if interrupts.came:
                    return interrupts.code
                text = f"{failed} of {options.seeds} seeds fail in the same way"
                print(f"other choices from {moment(at_ns)} on: {text}", flush=True)
        finally:
            pool.close()
    return 0


def failed_from(options: ReseedOptions, capsule: Capsule, at_ns: int, pool: Pool[int], interrupts: Interrupts) -> int:
    """Return how many of the seeds that go on from a moment fail as the capsule's run does."""
    failed, waiting = 0, list(range(1, options.seeds + 1))
    while (waiting or len(pool)) and not interrupts.came:
        while waiting and not pool.is_full:
            number = waiting.pop(0)
            pool.start(number, _attempt(options, capsule, at_ns, number))
        for number, outcome, _ in pool.ended(lambda: None):
            if outcome.problem:
                raise SimunixError(f"seed {number} from {moment(at_ns)} on: {outcome.problem}")
            failed += capsule.signature in outcome.signatures
    return failed


def _attempt(options: ReseedOptions, capsule: Capsule, at_ns: int, number: int) -> Attempt:
    strategy = Reseeded(Recorded(capsule.choices), Seed(number, STRATEGY).make(capsule.count, capsule.count), at_ns)
    return Attempt(
        options.capsule / SCENARIO,
        capsule.overrides,
        capsule.random_seed,
        capsule.events,
        strategy,
        folder=folder_of(capsule, options.capsule),
    )
