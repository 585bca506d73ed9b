"""Begins and ends the waits of actors: a wait ends with what the actor waits for, or at its deadline.

A parked actor is woken only by this module or by the core (csrc/turn/waits/parking.c). So every kind of wait ends in
the same way: its deadline is dropped, its answer is stored, and its actor gets a place in the run queue. The core ends
all waits, except those whose Python object must act at the end.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rsg_server._native import ffi, lib
from rsg_server.process.actor import STATE_PARKED, Actor
from rsg_server.process.wait import ActorWait
from rsg_server.protocol import WAKE_TIMEOUT

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.clock.timer_queue import TimerQueue
    from rsg_server.process.run_queue import RunQueue
    from rsg_server.process.slots import Slots

_NOBODY_S: Final[int] = lib.DEADLINE_NONE


class Parking:
    """Parks actors, and makes them ready for their next turn. `core` is the struct parking of the core."""

    def __init__(self, run_queue: RunQueue, timeline: Timeline, timer_queue: TimerQueue, slots: Slots) -> None:
        self.run_queue = run_queue
        self._timeline, self._slots = timeline, slots
        made = lib.parking_new(timer_queue.address, run_queue.core, timeline.core, slots.core)
        self.core: Any = ffi.gc(made, lib.parking_free)
        timeline.let_come(self.core)

    def park(self, actor: Actor, wait: ActorWait) -> None:
        """Take the turn from an actor until its wait ends."""
        record = actor.record
        kind, a, b, c = wait.in_core()
        siblings = wait.siblings_may_wake
        lib.parking_say(record, kind, wait.syscall, wait.deadline_ns, wait.blocked, a, b, c, wait.since_ns, siblings)
        actor.take_wait(wait)
        lib.parking_park(self.core, record, 0)
        if record.ends_in_python and wait.deadline_ns >= 0 and record.deadline_in == _NOBODY_S:
            actor.timeout = self._timeline.add(wait.deadline_ns, partial(self.time_out, actor))
        wait.begin(actor)

    def unpark(self, actor: Actor) -> None:
        """End the wait of an actor whose process has ended the wait itself; the process has updated the timer queue."""
        if actor.timeout is not None:
            actor.timeout.cancel()
            actor.timeout = None
        if actor.record.ends_in_python and actor.parked is not None:
            actor.parked.leave(actor)
        lib.parking_unpark(self.core, actor.record)

    def leave(self, actor: Actor) -> None:
        """Remove an actor from where it waits, without a message: the actor is dead, or has the turn."""
        if actor.record.ends_in_python and actor.parked is not None:
            actor.parked.leave(actor)
        lib.parking_leave(self.core, actor.record)

    def wake(self, actor: Actor, reason: int, value: int = 0) -> bool:
        """Put a parked actor at the end of the run queue; False if the actor does not wait."""
        if actor.record.ends_in_python:
            return self._end(actor, reason, value)
        return bool(lib.parking_wake(self.core, actor.record, reason, value))

    def _end(self, actor: Actor, reason: int, value: int) -> bool:
        """Wake an actor by the method `end` of its wait's Python object."""
        if actor.state is not STATE_PARKED:
            return False
        self.end_deadline(actor)
        if actor.parked is not None:
            reason, value = actor.parked.end(actor, reason, value)
            if actor.state is not STATE_PARKED:  # the end of a charge has reached a limit, which has ended the process
                return False
        actor.reply = (int(reason), value)
        self.make_ready(actor)
        return True

    def make_ready(self, actor: Actor) -> None:
        """Put an actor at the end of the run queue, unless a nomination has given it a place there (rsg_server.turn.wakeups).

        The actors of a process that is stopped or frozen join the run queue when the process goes on.
        """
        lib.parking_make_ready(self.core, actor.record)

    def end_deadline(self, actor: Actor) -> None:
        """Drop the deadline of an actor, if it has one."""
        if actor.timeout is not None:
            actor.timeout.cancel()
            actor.timeout = None
        lib.parking_end_deadline(self.core, actor.record)

    def time_out(self, actor: Actor) -> None:
        """Wake an actor whose deadline has come."""
        actor.timeout = None
        self.wake(actor, WAKE_TIMEOUT)

    def ring(self, slot: int) -> None:
        """Wake the actor of a slot whose deadline has come.

        Emulated processes write the timer queue, so a slot there may have no actor.
        """
        actor = self._slots.get(slot)
        if actor is not None:
            actor.record.deadline_in = _NOBODY_S
            self.time_out(actor)

    def keep_deadline(self, actor: Actor) -> None:
        """Move the deadline of an actor to the server, because its process cannot look at the timer queue for now."""
        lib.parking_keep_deadline(self.core, actor.record)
