"""Verifies the invariants of docs/internals/invariants.md whenever the server gives a turn, in a run with SIMUNIX_CHECK=1.

A check only looks: a run that is checked has the event log of one that is not. All actors are looked at in each turn as long
as there are LOOKS_A_TURN of them at most; of more, so seldom that a turn costs that many looks on average.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rsg_server.errors import ServerError
from rsg_server.process.actor import Actor, State

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.process.futex import FutexTable
    from rsg_server.process.run_queue import RunQueue
    from rsg_server.process.slots import Slots
    from rsg_server.shared.memory import SharedMemory

VARIABLE = "SIMUNIX_CHECK"
"""The variable of the environment of simunix that turns the checks on: 1."""
LOOKS_A_TURN = 64


class InvariantError(ServerError):
    """An invariant does not hold any more, by a mistake of simunix."""

    def __init__(self, number: int, what: str) -> None:
        super().__init__(f"invariant {number} of docs/internals/invariants.md does not hold: {what}; report this as a bug")


class Checks:
    """Looks, when an actor is given the turn, at the clock, at what is due, and at where each actor stands."""

    def __init__(
        self,
        shared: SharedMemory,
        timeline: Timeline,
        run_queue: RunQueue,
        actors: dict[int, Actor],
        slots: Slots,
        futexes: FutexTable,
    ) -> None:
        self._clock, self._deadlines, self._timeline = shared.clock, shared.deadlines, timeline
        self._run_queue, self._all, self._slots, self._futex_table = run_queue, actors, slots, futexes
        self._now_ns = 0
        self._turns = 0  # since all actors were looked at

    def given(self, holder: Actor) -> None:
        """The turn is about to begin, and its holder to be told. Raises InvariantError."""
        self._time()
        self._lookahead(holder)
        self._holder(holder)
        self._turns += 1
        if self._turns * LOOKS_A_TURN >= len(self._all):
            self._turns = 0
            self._actors(holder)
            self._order()
            self._futexes()

    def _time(self) -> None:
        now_ns = self._clock.told_ns
        if now_ns < self._now_ns:
            raise InvariantError(1, f"virtual time went back from {self._now_ns} ns to {now_ns} ns")
        self._now_ns = now_ns

    def _lookahead(self, holder: Actor) -> None:
        """A holder that is not alone moves no clock, and nobody moves it past the server's next event."""
        lookahead_ns, own_ns = self._clock.lookahead_ns, self._timeline.next_own_ns
        if lookahead_ns and self._run_queue:
            raise InvariantError(2, f"{holder!r} may move the clock up to {lookahead_ns} ns while {self._line()} are to run")
        if own_ns is not None and lookahead_ns > own_ns:
            raise InvariantError(2, f"{holder!r} may move the clock up to {lookahead_ns} ns past the event at {own_ns} ns")

    def _line(self) -> str:
        return ", ".join(map(repr, self._run_queue))

    def _holder(self, holder: Actor) -> None:
        if holder.state is not State.RUNNING:
            raise InvariantError(4, f"{holder!r} has the turn and is {holder.state.value}")
        if holder.process.is_held:
            raise InvariantError(4, f"{holder!r} has the turn, and its process is stopped or frozen")

    def _actors(self, holder: Actor) -> None:
        """Each actor is where its state says: in the run queue once, or not at all; and at its slot."""
        line = list(self._run_queue)
        waiting = set(line)
        wrong = self._run_queue.core.wrong
        if wrong:
            who = self._all.get(wrong.number)
            what = f"actor {wrong.number}, which is dead, joins it" if who is None else f"{who!r} joins it and stands there"
            raise InvariantError(5, f"the run queue: {what}")
        for actor in line:
            if self._all.get(actor.number) is not actor:
                raise InvariantError(5, f"{actor!r} is in the run queue and {actor.state.value}")
        for actor in self._all.values():
            if actor.state is State.RUNNING and actor is not holder:
                raise InvariantError(4, f"{actor!r} runs while {holder!r} has the turn")
            is_ready = actor.state is State.READY and not actor.process.is_held and not self._run_queue.is_put_off(actor)
            is_due = actor.is_nominated or is_ready
            if is_due is not (actor in waiting):
                where = "is not in the run queue" if is_due else "is in the run queue"
                raise InvariantError(5, f"{actor!r} is {actor.state.value} and {where}")
            owner = self._slots.get(actor.slot)
            if actor.slot and owner is not actor:
                raise InvariantError(4, f"{actor!r} waits at slot {actor.slot}, which is {owner!r}'s")

    def _order(self) -> None:
        if not self._timeline.is_ordered():
            raise InvariantError(5, "the timeline is no heap by virtual time and order of insertion")
        slot = self._deadlines.misplaced()
        if slot is not None:
            raise InvariantError(5, f"the timer queue has slot {slot} ({self._slots.get(slot)!r}) in a wrong place")

    def _futexes(self) -> None:
        """Those in queues of futexes wait there, or have been woken by a signal and have not run yet."""
        for actor in self._futex_table.waiting():
            if actor.state not in (State.PARKED, State.READY):
                raise InvariantError(4, f"{actor!r} is queued at a futex and {actor.state.value}")
        actor_of_no_key = self._futex_table.misplaced()
        if actor_of_no_key is not None:
            raise InvariantError(4, f"{actor_of_no_key!r} is queued at a futex at which it does not wait")


def are_wanted() -> bool:
    """Whether the environment asks for checks."""
    return os.environ.get(VARIABLE) == "1"
