"""Choices of turns: which ready actor is next, when it runs, and when its turn ends; who is woken; which deadline is first."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from rsg_server.choices.places import LONGEST_SLICE, PAUSE, PAUSES_NS, SLICE, TIE, TURN, WAKE
from rsg_server.choices.source import Choices
from rsg_server.order import Ready
from rsg_server.process.actor import actor_of

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.process.actor import Actor
    from rsg_server.process.run_queue import RunQueue
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


class ChosenTurns:
    """When the actor that is next gets its turn, and how long the turn lasts, are choices at the beginning of each turn."""

    def __init__(
        self, choices: Choices, clock: Clock, timeline: Timeline, run_queue: RunQueue, turn: TurnWords, call_ns: int
    ) -> None:
        """`call_ns`: the price of a system call, whose multiples are the lengths of turns."""
        self._choices, self._clock, self._timeline, self._run_queue = choices, clock, timeline, run_queue
        self._turn, self._call_ns = turn, call_ns

    def begin(self, actor: Actor) -> bool:
        """Choose when the turn that the actor is about to get ends at the latest, at a call; False if the actor is put off."""
        if self._is_paused(actor):
            return False
        taken = self._choices.choose(SLICE, 1 + LONGEST_SLICE, [actor.number]) if SLICE in self._choices.places else 0
        if not taken:
            self._turn.end_when_it_waits()
            return True
        self._turn.end_at(self._clock.now_ns + taken * self._call_ns)
        calls = f"{taken} call{'s' if taken > 1 else ''}"
        self._choices.note(SLICE, 1 + LONGEST_SLICE, taken, f"{named(actor)} is interrupted after about {calls}")
        return True

    def _is_paused(self, actor: Actor) -> bool:
        """Choose whether the actor, which has left the run queue, comes back there after a while only.

        An actor that is nominated may find nothing to do, and one that owes a message is waited for: these are not asked about.
        """
        if PAUSE not in self._choices.places or actor.is_nominated or actor.owes_message:
            return False
        taken = self._choices.choose(PAUSE, len(PAUSES_NS), [actor.number])
        if not taken:
            return False
        what = f"{named(actor)} does not run for {PAUSES_NS[taken] / 1e6:g} ms"
        self._choices.note(PAUSE, len(PAUSES_NS), taken, what)
        self._run_queue.put_off(actor)
        self._timeline.add(self._clock.now_ns + PAUSES_NS[taken], partial(self._run_queue.come_back, actor))
        return True


class ChosenWakes:
    """Which of several waiters of a futex is woken is a choice."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def pick(self, waiters: list[Actor]) -> int:
        """The place of one of two or more waiters in the order of their arrival."""
        if WAKE not in self._choices.places:
            return 0
        taken = self._choices.choose(WAKE, len(waiters), [actor.number for actor in waiters])
        if taken:
            what = f"{named(waiters[taken])} is woken before {named(waiters[0])}, which has waited longer"
            self._choices.note(WAKE, len(waiters), taken, what)
        return taken


class ChosenTies:
    """Whether a time-out comes before or after what else is due at its moment is a choice."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def comes_later(self, record: Any) -> bool:
        """Whether the time-out of the actor with a record comes after what else is due."""
        actor = actor_of(record)
        if TIE not in self._choices.places:
            return False
        taken = self._choices.choose(TIE, 2, [actor.number])
        if taken:
            self._choices.note(TIE, 2, taken, f"the time-out of {named(actor)} comes after what else is due at its moment")
        return taken != 0


def named(actor: Actor) -> str:
    """An actor for a person: host, program's file name, process id, and which thread of several."""
    process = actor.process
    threads = process.actors
    thread = f", thread {threads.index(actor) + 1}" if len(threads) > 1 and actor in threads else ""
    return f"{process.host.name}: {process.program.rpartition('/')[2]}[{process.pid}{thread}]"
