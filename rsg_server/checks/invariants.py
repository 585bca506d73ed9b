"""Checks the invariants of docs/internals/invariants.md whenever the server gives a turn, if SIMUNIX_CHECK is 1.

A check changes nothing: a checked run has the event log of a run without checks. With up to LOOKS_A_TURN actors, all of
them are checked at each turn. With more actors, all are checked at some turns only, so seldom that on average a turn
checks no more than LOOKS_A_TURN actors.
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
"""The environment variable of the command `simunix` that turns the checks on if it is 1."""
LOOKS_A_TURN = 64


class InvariantError(ServerError):
    """Raised if an invariant does not hold any more, which is a mistake in simunix."""

    def __init__(self, number: int, what: str) -> None:
        super().__init__(f"invariant {number} of docs/internals/invariants.md does not hold: {what}; report this as a bug")


class Checks:
    """Checks the clock, the events that are due, and the state of each actor, whenever an actor is given the turn."""

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
        self._turns = 0  # the number of turns since all actors were checked

    def given(self, holder: Actor) -> None:
        """Check the invariants when `holder` is about to be given the turn. Raises InvariantError."""
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
        """Check that the holder of the turn moves the clock only if no other actor is ready, and not past the server's
        next event.
        """
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
        """Check that each actor is in the run queue exactly if its state says so, and that it has its own slot."""
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
        """Check that each actor in the queue of a futex waits there, or was woken by a signal and has not run yet."""
        for actor in self._futex_table.waiting():
            if actor.state not in (State.PARKED, State.READY):
                raise InvariantError(4, f"{actor!r} is queued at a futex and {actor.state.value}")
        actor_of_no_key = self._futex_table.misplaced()
        if actor_of_no_key is not None:
            raise InvariantError(4, f"{actor_of_no_key!r} is queued at a futex at which it does not wait")


def are_wanted() -> bool:
    """Return whether the environment asks for checks, by SIMUNIX_CHECK=1."""
    return os.environ.get(VARIABLE) == "1"
