"""Lets a run of `simunix explore` choose which ready actor is next, when it runs, when its turn ends, which waiter is
woken, and what comes first at a tie.
"""

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
    from rsg_server.shared.memory import SharedMemory


class ChosenOrder:
    """Chooses the next actor wherever several are ready."""

    allows_handoffs = False

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def place(self, line: Collection[Ready]) -> int:
        """Return the chosen place in the line of ready actors."""
        if len(line) < 2 or TURN not in self._choices.places:
            return 0
        taken = self._choices.choose(TURN, len(line), [actor.number for actor in line])
        if taken:
            actors = cast("list[Actor]", list(line))
            what = f"{named(actors[taken])} runs before {named(actors[0])}"
            self._choices.note(TURN, len(actors), taken, what)
        return taken


class ChosenTurns:
    """Chooses at the beginning of each turn whether the actor gets the turn now or later, and how long the turn lasts."""

    def __init__(self, choices: Choices, shared: SharedMemory, timeline: Timeline, run_queue: RunQueue, call_ns: int) -> None:
        """Take the price of a system call, `call_ns`: the lengths of turns are multiples of it."""
        self._choices, self._clock, self._timeline, self._run_queue = choices, shared.clock, timeline, run_queue
        self._turn, self._wall_clocks, self._call_ns = shared.turn, shared.wall_clocks, call_ns

    def begin(self, actor: Actor) -> bool:
        """Choose after how much virtual time the turn of an actor ends, at a call; return False if the actor gets the
        turn later.
        """
        if self._is_paused(actor):
            return False
        self._wall_clocks.show(actor.process.host.name)
        taken = self._choices.choose(SLICE, 1 + LONGEST_SLICE, [actor.number]) if SLICE in self._choices.places else 0
        if not taken:
            self._turn.end_when_it_waits()
            return True
        self._turn.end_at(self._clock.now_ns + taken * self._call_ns)
        calls = f"{taken} call{'s' if taken > 1 else ''}"
        self._choices.note(SLICE, 1 + LONGEST_SLICE, taken, f"{named(actor)} is interrupted after about {calls}")
        return True

    def _is_paused(self, actor: Actor) -> bool:
        """Choose whether an actor, which has left the run queue, comes back there only after a while.

        An actor that is nominated never pauses, since it may find nothing to do, nor does an actor that still has to
        send its first message, since other actors wait for that message.
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
    """Chooses which of several waiters of a futex is woken."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def pick(self, waiters: list[Actor]) -> int:
        """Return the place of the chosen waiter among two or more, which are in the order of their arrival."""
        if WAKE not in self._choices.places:
            return 0
        taken = self._choices.choose(WAKE, len(waiters), [actor.number for actor in waiters])
        if taken:
            what = f"{named(waiters[taken])} is woken before {named(waiters[0])}, which has waited longer"
            self._choices.note(WAKE, len(waiters), taken, what)
        return taken


class ChosenTies:
    """Chooses whether a time-out comes before or after other events of the same moment."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def comes_later(self, record: Any) -> bool:
        """Return whether the time-out of the actor with this struct turn_actor comes after the other events of its moment."""
        actor = actor_of(record)
        if TIE not in self._choices.places:
            return False
        taken = self._choices.choose(TIE, 2, [actor.number])
        if taken:
            self._choices.note(TIE, 2, taken, f"the time-out of {named(actor)} comes after what else is due at its moment")
        return taken != 0


def named(actor: Actor) -> str:
    """Return words for an actor: host, file name of the program, process id, and which thread of several."""
    process = actor.process
    threads = process.actors
    thread = f", thread {threads.index(actor) + 1}" if len(threads) > 1 and actor in threads else ""
    return f"{process.host.name}: {process.program.rpartition('/')[2]}[{process.pid}{thread}]"
