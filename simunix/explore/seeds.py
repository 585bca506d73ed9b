"""What a seed of an exploration means: the strategy that takes the choices, and the faults that the nemesis brings.

Each seed also gives programs other random numbers. Seed 0 is the run of the scenario as it is, so an exploration that finds
only what fails anyhow says so at once. All that a seed means is drawn from its number and from the scenario: any computer
gives the same.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from rsg_server.choices.source import Strategy
from rsg_server.choices.strategies import Baseline, DelayBounded, Pct, Random
from rsg_server.errors import SimunixError, quoted

PORTFOLIO = ("random", "random", "pct:2", "random", "random", "pct:3", "delay:2", "random", "random", "pct:1", "delay:5")
"""Strategies of the seeds from 1 on, in turns. Random is the best at most bugs of benchmarks (Thomson, Donaldson, Betts,
"Concurrency Testing Using Controlled Schedulers", ACM TOPC 2016), but each finds some that the others do not find."""
NAMES = ("baseline", "random", "pct:DEPTH", "delay:BOUND")


@dataclass(frozen=True, slots=True)
class Seed:
    """A seed's number, and the name of its strategy."""

    number: int
    strategy: str

    def make(self, choices: int, turns: int) -> Strategy:
        """Make the strategy; `choices` and `turns` are how many the run of seed 0 had, among which moments are drawn."""
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
    """What a number means under a strategy."""
    if number == 0:
        return Seed(0, "baseline")
    return Seed(number, PORTFOLIO[(number - 1) % len(PORTFOLIO)] if strategy == "portfolio" else strategy)


def generator(kind: str, number: int) -> random.Random:
    """A generator of random numbers for one purpose of a seed."""
    return random.Random(f"{kind} {number}")
