"""Says what a seed of an exploration does: which strategy makes the choices, and which faults are added to the run.

Each seed also gives programs other random numbers. Seed 0 is the run of the unchanged scenario, so an exploration shows
at once if this run fails already. All properties of a seed follow from its number and the scenario, so they are the
same on every computer.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from rsg_server.choices.source import Strategy
from rsg_server.choices.strategies import Baseline, DelayBounded, Pct, Random
from rsg_server.errors import SimunixError, quoted

PORTFOLIO = ("random", "random", "pct:2", "random", "random", "pct:3", "delay:2", "random", "random", "pct:1", "delay:5")
"""The strategies that the seeds from 1 on use in turns. For most bugs in benchmarks, random choices are the best
strategy (Thomson, Donaldson, Betts, "Concurrency Testing Using Controlled Schedulers", ACM TOPC 2016), but each
strategy finds some bugs that the others do not find.
"""
NAMES = ("baseline", "random", "pct:DEPTH", "delay:BOUND")


@dataclass(frozen=True, slots=True)
class Seed:
    """A seed's number, and the name of its strategy."""

    number: int
    strategy: str

    def make(self, choices: int, turns: int) -> Strategy:
        """Make the strategy; `choices` and `turns` are the numbers of choices and turns in the run of seed 0; the
        strategy draws moments from these.
        """
        name, _, value = self.strategy.partition(":")
        if name == "baseline":
            return Baseline()
        if name == "random":
            return Random(self.number, turns)
        return Pct(self.number, int(value), turns) if name == "pct" else DelayBounded(self.number, int(value), choices)


def check_strategy(name: str) -> None:
    """Raise SimunixError for a strategy that does not exist."""
    kind, colon, value = name.partition(":")
    is_known = kind in ("baseline", "random", "portfolio") and not colon
    is_numbered = kind in ("pct", "delay") and value.isascii() and value.isdigit() and 1 <= int(value) <= 100
    if not (is_known or is_numbered):
        raise SimunixError(f"--strategy: expected portfolio, {', '.join(NAMES)}, got {quoted(name)}; numbers are from 1 to 100")


def seed_of(number: int, strategy: str = "portfolio") -> Seed:
    """Return the seed with a number, for the chosen strategy."""
    if number == 0:
        return Seed(0, "baseline")
    return Seed(number, PORTFOLIO[(number - 1) % len(PORTFOLIO)] if strategy == "portfolio" else strategy)


def generator(kind: str, number: int) -> random.Random:
    """Return a generator of random numbers for one purpose of a seed."""
    return random.Random(f"{kind} {number}")
