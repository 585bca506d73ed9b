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
    from rsg_server.checks.needs import CheckedKernel

VARIABLE = "SIMUNIX_CHECK"
"""The variable of the environment of simunix that turns the checks on: 1."""
LOOKS_A_TURN = 64


class InvariantError(ServerError):
    """An invariant does not hold any more, by a mistake of simunix."""

    def __init__(self, number: int, what: str) -> None:
        super().__init__(f"invariant {number} of docs/internals/invariants.md does not hold: {what}; report this as a bug")


class Checks:
    """Looks at a kernel when an actor is given the turn."""

    def __init__(self, kernel: CheckedKernel) -> None:
        self._kernel = kernel
        self._now_ns = 0
        self._turns = 0  # since all actors were looked at

    def given(self, holder: Actor) -> None:
        """The turn is about to begin, and its holder to be told. Raises InvariantError."""
        self._time()
        self._lookahead(holder)
        self._holder(holder)
        self._turns += 1
        if self._turns * LOOKS_A_TURN >= len(self._kernel.actors):
            self._turns = 0
            self._actors(holder)
            self._order()
            self._futexes()

    def _time(self) -> None:
        now_ns = self._kernel.shared.clock.told_ns
        if now_ns < self._now_ns:
            raise InvariantError(1, f"virtual time went back from {self._now_ns} ns to {now_ns} ns")
        self._now_ns = now_ns

    def _lookahead(self, holder: Actor) -> None:
        """A holder that is not alone moves no clock, and nobody moves it past the server's next event."""
        lookahead_ns, own_ns = self._kernel.shared.clock.lookahead_ns, self._kernel.timeline.next_own_ns
        if lookahead_ns and self._kernel.run_queue:
            raise InvariantError(2, f"{holder!r} may move the clock up to {lookahead_ns} ns while {self._line()} are to run")
        if own_ns is not None and lookahead_ns > own_ns:
            raise InvariantError(2, f"{holder!r} may move the clock up to {lookahead_ns} ns past the event at {own_ns} ns")

    def _line(self) -> str:
        return ", ".join(map(repr, self._kernel.run_queue))

    def _holder(self, holder: Actor) -> None:
        if holder.state is not State.RUNNING:
            raise InvariantError(4, f"{holder!r} has the turn and is {holder.state.value}")
        if holder.process.is_held:
            raise InvariantError(4, f"{holder!r} has the turn, and its process is stopped or frozen")

    def _actors(self, holder: Actor) -> None:
        """Each actor is where its state says: in the run queue once, or not at all; and at its slot."""
        line = list(self._kernel.run_queue)
        waiting = set(line)
        if len(waiting) < len(line):
            twice = next(actor for actor in line if line.count(actor) > 1)
            raise InvariantError(5, f"{twice!r} is in the run queue twice")
        for actor in line:
            if self._kernel.actors.get(actor.number) is not actor:
                raise InvariantError(5, f"{actor!r} is in the run queue and {actor.state.value}")
        for actor in self._kernel.actors.values():
            if actor.state is State.RUNNING and actor is not holder:
                raise InvariantError(4, f"{actor!r} runs while {holder!r} has the turn")
            is_due = actor.is_nominated or (actor.state is State.READY and not actor.process.is_held)
            if is_due is not (actor in waiting):
                where = "is not in the run queue" if is_due else "is in the run queue"
                raise InvariantError(5, f"{actor!r} is {actor.state.value} and {where}")
            owner = self._kernel.slots.get(actor.slot)
            if actor.slot and owner is not actor:
                raise InvariantError(4, f"{actor!r} waits at slot {actor.slot}, which is {owner!r}'s")

    def _order(self) -> None:
        if not self._kernel.timeline.is_ordered():
            raise InvariantError(5, "the timeline is no heap by virtual time and order of insertion")
        slot = self._kernel.shared.deadlines.misplaced()
        if slot is not None:
            raise InvariantError(5, f"the timer queue has slot {slot} ({self._kernel.slots.get(slot)!r}) in a wrong place")

    def _futexes(self) -> None:
        """Those in queues of futexes wait there, or have been woken by a signal and have not run yet."""
        for actor in self._kernel.futexes.waiting():
            if actor.state not in (State.PARKED, State.READY):
                raise InvariantError(4, f"{actor!r} is queued at a futex and {actor.state.value}")
        actor_of_no_key = self._kernel.futexes.misplaced()
        if actor_of_no_key is not None:
            raise InvariantError(4, f"{actor_of_no_key!r} is queued at a futex at which it does not wait")


def wanted_checks(kernel: CheckedKernel) -> Checks | None:
    """The checks of a run; None if the environment does not ask for them."""
    return Checks(kernel) if os.environ.get(VARIABLE) == "1" else None
