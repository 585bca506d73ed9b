"""Choices of turns: which ready actor is next, and after how much virtual time its turn ends at a call."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, cast

from rsg_server.choices.places import LONGEST_SLICE, SLICE, TURN
from rsg_server.choices.source import Choices
from rsg_server.order import Ready

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.shared.clock import Clock
    from rsg_server.shared.turn_words import TurnWords


class ChosenOrder:
    """Which of the ready actors is next is a choice wherever there are several."""

    allows_handoffs = False

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def place(self, line: Collection[Ready]) -> int:
        """The place in the line that is chosen."""
        if len(line) < 2 or TURN not in self._choices.places:
            return 0
        taken = self._choices.choose(TURN, len(line), [actor.number for actor in line])
        if taken:
            actors = cast("list[Actor]", list(line))
            what = f"{named(actors[taken])} runs before {named(actors[0])}"
            self._choices.note(TURN, len(actors), taken, what)
        return taken


class Slices:
    """How long a turn lasts is a choice at the beginning of each turn."""

    def __init__(self, choices: Choices, clock: Clock, turn: TurnWords, call_ns: int) -> None:
        """`call_ns`: the price of a system call, whose multiples are the lengths of turns."""
        self._choices, self._clock, self._turn, self._call_ns = choices, clock, turn, call_ns

    def begin(self, actor: Actor) -> None:
        """Choose when the turn that the actor is about to get ends at the latest, at a call."""
        taken = self._choices.choose(SLICE, 1 + LONGEST_SLICE, [actor.number]) if SLICE in self._choices.places else 0
        if not taken:
            self._turn.end_when_it_waits()
            return
        self._turn.end_at(self._clock.now_ns + taken * self._call_ns)
        calls = f"{taken} call{'s' if taken > 1 else ''}"
        self._choices.note(SLICE, 1 + LONGEST_SLICE, taken, f"{named(actor)} is interrupted after about {calls}")


def named(actor: Actor) -> str:
    """An actor for a person: host, program's file name, process id, and which thread of several."""
    process = actor.process
    threads = process.actors
    thread = f", thread {threads.index(actor) + 1}" if len(threads) > 1 and actor in threads else ""
    return f"{process.host.name}: {process.program.rpartition('/')[2]}[{process.pid}{thread}]"
