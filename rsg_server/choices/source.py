"""The one source of choices: asks a strategy, and keeps each choice that differs from what a run without choices does.

Choices are numbered from 0 in the order in which a run makes them. What a fault does is a choice that is numbered by its moment
and by what it concerns instead, so that the choice stays when others before it are left out. A run is repeated by its choices
alone: a strategy that returns the kept ones by their numbers, and 0 for all others, gives the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol
from zlib import crc32

FIRST_NAMED: Final = 1 << 40
"""The lowest number of a choice that is numbered by moment and name."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen: the number of the choice, its place, how many alternatives there were, and which of them was taken.

    `at_ns` is the virtual time, and `what` says for a person what the choice changed; a run is repeated without these two.
    """

    number: int
    place: str
    alternatives: int
    taken: int
    at_ns: int = 0
    what: str = ""


class Strategy(Protocol):
    """Takes one of several alternatives."""

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        """Return which of `alternatives` choice `number` takes, from 0.

        `actors` are numbers of actors. Where `place` is TURN they are the ready ones in the order of becoming ready, where it
        is WAKE the waiters in the order of their arrival. Where it is PAUSE, SLICE or TIE, there is one: the actor that is
        next, that gets the turn, or that times out. Where it is DELAY, CUT or LOSE, there is none.
        """


class Choices:
    """Makes the choices of one run."""

    def __init__(self, strategy: Strategy, places: frozenset[str]) -> None:
        self.strategy = strategy
        self.places = places
        """The places at which alternatives other than 0 may be taken; nothing is asked, or counted, at others."""
        self.count = 0
        """How many choices have been made."""
        self.now_ns: Callable[[], int] = lambda: 0
        """Tells the virtual time; set by the kernel, whose clock is made after the choices."""
        self._named: list[int] = []
        """The numbers of the choices that have a name."""
        self.taken: list[Choice] = []
        """The choices that took another alternative than 0, in their order."""

    def choose(self, place: str, alternatives: int, actors: list[int]) -> int:
        """Return which of two or more alternatives is taken; whoever gets another one than 0 tells of it by `note`."""
        number = self.count
        self.count = number + 1
        return self.strategy.take(number, place, alternatives, actors)

    def choose_named(self, place: str, alternatives: int, name: str) -> int:
        """Return which alternative a fault takes that concerns what has this name; `note_named` keeps another one than 0."""
        number = FIRST_NAMED + (self.now_ns() // 1000 << 16 | crc32(name.encode(errors="surrogateescape")) & 0xFFFF)
        while number in self._named:
            number += 1
        self._named.append(number)
        return self.strategy.take(number, place, alternatives, [])

    def note(self, place: str, alternatives: int, taken: int, what: str) -> None:
        """Keep the latest choice, which took another alternative than 0."""
        self.taken.append(Choice(self.count - 1, place, alternatives, taken, self.now_ns(), what))

    def note_named(self, place: str, alternatives: int, taken: int, what: str) -> None:
        """Keep the latest choice that has a name, which took another alternative than 0."""
        self.taken.append(Choice(self._named[-1], place, alternatives, taken, self.now_ns(), what))
