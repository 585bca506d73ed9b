"""Strategies: how a run that explores takes its choices. Each draws from a seed, and asks for nothing but what it is told.

Sources. PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding
Bugs", ASPLOS 2010. Delay bounding: Emmi, Qadeer, Rakamarić, "Delay-Bounded Scheduling", POPL 2011. Swarm: Groce, Zhang, Eide,
Chen, Regehr, "Swarm Testing", ISSTA 2012.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from rsg_server.choices.places import CUT, DELAY, LOSE, PAUSE, SLICE, TIE, TURN, WAKE
from rsg_server.choices.source import Choice, Strategy


class Baseline:
    """Takes alternative 0 everywhere: the run is that of a scenario without choices."""

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        """Always 0."""
        return 0


MOST_SLICES, MOST_PAUSES = 50_000, 1_000
"""How many turns a random strategy may cut, each of which costs a hand-over by the server, and put off: that costs time."""


LOSES = 0.5
"""At which part of the choices of what a power cut loses something is lost."""


class Random:
    """Takes alternatives at random, at a part of the choices that the seed draws for each place (swarm).

    All ready actors, waiters and cuts are equally probable, as are all delays and pauses up to a longest one, which the seed
    draws. A turn that is cut lasts a number of calls that is distributed exponentially, about a mean that the seed draws.
    """

    RATES = {
        TURN: (0.05, 0.2, 0.5, 1.0),
        SLICE: (0.05, 0.2, 0.5, 1.0),
        PAUSE: (0.0, 0.01, 0.1, 0.3),
        DELAY: (0.0, 0.01, 0.1, 0.5),
        CUT: (0.0, 0.0, 0.1, 0.5),
        WAKE: (0.0, 0.2, 1.0),
        TIE: (0.0, 0.5),
    }
    """By place, the parts of its choices that may be drawn: one for the whole run."""
    MEAN_CALLS = (2, 3, 5, 10, 40)
    """Of the lengths of turns that are cut, the means that may be drawn."""

    def __init__(self, seed: int, turns: int) -> None:
        """`turns`: how many turns such a run has; of a long one a smaller part is cut, and put off."""
        self._random = random.Random(f"random {seed}")
        self.rates = {place: self._random.choice(rates) for place, rates in self.RATES.items()} | {LOSE: LOSES}
        self.rates[SLICE] = min(self.rates[SLICE], MOST_SLICES / max(turns, 1))
        self.rates[PAUSE] = min(self.rates[PAUSE], MOST_PAUSES / max(turns, 1))
        self._mean_calls = self._random.choice(self.MEAN_CALLS)
        self._longest = {DELAY: self._random.random(), PAUSE: self._random.random()}

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        """A number below `alternatives`."""
        if self._random.random() >= self.rates[place]:
            return 0
        if place == SLICE:
            return min(1 + int(self._random.expovariate(1 / self._mean_calls)), alternatives - 1)
        if place in self._longest:
            return 1 + self._random.randrange(1 + int(self._longest[place] * (alternatives - 1)))
        return self._random.randrange(alternatives)


class Pct:
    """Gives each actor a random priority, and runs the ready actor whose priority is highest.

    At `depth` - 1 moments of the run, drawn among `length` turns, the actor that has just got the turn is interrupted at one of
    its next calls, may pause, and has the lowest priority from then on. So a bug that needs `depth` events in an order is found
    with a probability of at least 1 / (n × length^(depth - 1)) in a run of n actors.
    """

    def __init__(self, seed: int, depth: int, length: int) -> None:
        self._random = random.Random(f"pct {seed}")
        self._changes = {self._random.randrange(max(length, 1)) for _ in range(depth - 1)}
        self._priorities: dict[int, float] = {}
        self._changed: set[int] = set()
        """The actors whose priority has changed and which have not run since: nobody may be ready, so they pause as well."""
        self._lowest = 0.0
        self._turns = 0

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        """The place of the ready actor with the highest priority; the end of a turn at a change of priorities."""
        if place == TURN:
            priorities = [self._priority(actor) for actor in actors]
            return priorities.index(max(priorities))
        if place == SLICE:
            return self._change(actors[0], alternatives)
        if place == PAUSE and actors[0] in self._changed:
            self._changed.discard(actors[0])
            return self._random.randrange(alternatives)
        if place == LOSE and self._random.random() < LOSES:  # a power cut is no matter of priorities
            return self._random.randrange(alternatives)
        return 0

    def _priority(self, actor: int) -> float:
        priority = self._priorities.get(actor)
        if priority is None:
            priority = self._priorities[actor] = 1.0 + self._random.random()
        return priority

    def _change(self, actor: int, alternatives: int) -> int:
        self._turns += 1
        if self._turns - 1 not in self._changes:
            return 0
        self._lowest -= 1.0
        self._priorities[actor] = self._lowest
        self._changed.add(actor)
        return some_calls(self._random, alternatives)


class DelayBounded:
    """Takes alternative 0, but at `bound` random choices: there the second of several goes first, or anything else is taken."""

    def __init__(self, seed: int, bound: int, length: int) -> None:
        self._random = random.Random(f"delay-bounded {seed}")
        self._at = {self._random.randrange(max(length, 1)) for _ in range(bound)}

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        """1 at the turns that the seed has drawn, the end of a turn at such slices, any alternative at such others; else 0."""
        if place == LOSE:
            return self._random.randrange(alternatives) if self._random.random() < LOSES else 0
        if number not in self._at:
            return 0
        if place == SLICE:
            return some_calls(self._random, alternatives)
        return 1 if place == TURN else self._random.randrange(1, alternatives)


def some_calls(draw: random.Random, alternatives: int) -> int:
    """A length of a turn that is cut, in calls: on a scale of powers of two, up to a longest one of 4 to 256, drawn first.

    So short ones are the more probable: most turns have few calls, and an interrupt behind the last call is none.
    """
    return min(int(2 ** draw.uniform(0, 2 * draw.randint(1, 4))), alternatives - 1)


class Recorded:
    """Takes the recorded choices by their numbers, and 0 for all others.

    A choice that does not fit what the run asks (another place, fewer alternatives) shows that this run is not the recorded
    one: `departure` tells the first such choice, and 0 is taken.
    """

    def __init__(self, choices: Iterable[Choice]) -> None:
        self._choices = {choice.number: choice for choice in choices}
        self.departure: Choice | None = None

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        """The recorded alternative."""
        choice = self._choices.get(number)
        if choice is None:
            return 0
        if choice.place != place or choice.taken >= alternatives:
            self.departure = self.departure or choice
            return 0
        return choice.taken


class Reseeded:
    """Takes recorded choices up to a moment of virtual time, and those of another strategy from then on.

    `now_ns` tells the virtual time; it is set by whoever makes the run.
    """

    def __init__(self, recorded: Recorded, rest: Strategy, at_ns: int) -> None:
        self._recorded, self._rest, self._at_ns = recorded, rest, at_ns
        self.now_ns: Callable[[], int] = lambda: 0

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        """What the one or the other takes."""
        strategy: Strategy = self._recorded if self.now_ns() < self._at_ns else self._rest
        return strategy.take(number, place, alternatives, actors)
