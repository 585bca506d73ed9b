"""How an actor begins to wait, and how its wait ends: with what it waits for, or at its deadline.

A parked actor is woken here and nowhere else, so what belongs to the end of a wait (its deadline, its answer, its place in the
run queue) happens for every kind of wait.
"""

from __future__ import annotations

from functools import partial

from rsg_server.clock.timeline import Event, Timeline
from rsg_server.clock.timer_queue import TimerQueue
from rsg_server.process.actor import STATE_PARKED, STATE_READY, Actor
from rsg_server.process.run_queue import RunQueue
from rsg_server.process.slots import Slots
from rsg_server.process.wait import ActorWait
from rsg_server.protocol import WAKE_TIMEOUT


class Parking:
    """Parks actors, and makes them ready for their next turn."""

    def __init__(self, run_queue: RunQueue, timeline: Timeline, timer_queue: TimerQueue, slots: Slots) -> None:
        self.run_queue = run_queue
        self._timeline, self._timer_queue, self._slots = timeline, timer_queue, slots

    def park(self, actor: Actor, wait: ActorWait, is_in_timer_queue: bool = False) -> None:
        """Take the turn from an actor until its wait ends.

        `is_in_timer_queue`: the actor's process has put the deadline into the timer queue by itself.
        """
        actor.state = STATE_PARKED
        actor.parked = wait
        if wait.deadline_ns >= 0:
            if is_in_timer_queue:
                actor.timeout = self._timer_queue.alarm(actor.slot)
            elif wait.siblings_may_wake and actor.slot:
                actor.timeout = self._timer_queue.add(actor.slot, wait.deadline_ns)
            else:
                actor.timeout = self._timeline.add(wait.deadline_ns, partial(self.time_out, actor))
        wait.begin(actor)

    def unpark(self, actor: Actor) -> None:
        """Forget what an actor waits for, since its process has ended the wait; the process has updated the timer queue."""
        if isinstance(actor.timeout, Event):
            actor.timeout.cancel()
        actor.timeout = None
        if actor.parked is not None:
            actor.parked.leave(actor)
        actor.parked = None

    def wake(self, actor: Actor, reason: int, value: int = 0) -> bool:
        """Put a parked actor at the end of the run queue; False if the actor does not wait."""
        if actor.state is not STATE_PARKED:
            return False
        if actor.timeout is not None:
            actor.timeout.cancel()
            actor.timeout = None
        if actor.parked is not None:
            reason, value = actor.parked.end(actor, reason, value)
            if actor.state is not STATE_PARKED:  # the end of a charge has reached a limit, which has ended the process
                return False
        actor.reply = (int(reason), value)
        self.make_ready(actor)
        return True

    def make_ready(self, actor: Actor) -> None:
        """Put an actor at the end of the run queue, unless it has a place there by nomination (rsg_server.turn.wakeups).

        The actors of a process that is stopped or frozen join the run queue when the process goes on.
        """
        actor.state = STATE_READY
        if not actor.process.is_held and not actor.is_nominated:
            self.run_queue.ready(actor)

    def time_out(self, actor: Actor) -> None:
        """Wake an actor whose deadline has come."""
        actor.timeout = None
        self.wake(actor, WAKE_TIMEOUT)

    def ring(self, slot: int) -> None:
        """A deadline of the timer queue has come, to which processes write: the slot may have no actor."""
        actor = self._slots.get(slot)
        if actor is not None:
            self.time_out(actor)

    def move_to_timeline(self, actor: Actor, deadline_ns: int) -> None:
        """Have the server keep the deadline of an actor, whose process cannot look at the timer queue for now."""
        if actor.timeout is not None:
            actor.timeout.cancel()
        actor.timeout = self._timeline.add(deadline_ns, partial(self.time_out, actor))
