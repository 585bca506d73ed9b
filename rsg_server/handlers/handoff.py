"""Hand-offs: shims have handed the turn on without the server, which learns which actor has it and what others wait for.

Or the holder has woken siblings at a futex while others were ready: these join the end of the run queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.clock.timer_queue import Alarm
from rsg_server.process.actor import STATE_PARKED, STATE_READY, STATE_RUNNING, Actor

if TYPE_CHECKING:
    from rsg_server.event_log import EventLog
    from rsg_server.process.parking import Parking
    from rsg_server.process.slots import Slots
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.waits.table import Waits

_MAY_HAVE_HAD_THE_TURN = (STATE_PARKED, STATE_RUNNING)


class Handoffs:
    """What the outbox and the journal tell of hand-offs."""

    def __init__(self, slots: Slots, waits: Waits, shared: SharedMemory, log: EventLog, parking: Parking) -> None:
        self._slots, self._waits, self._log = slots, waits, log
        self._clock, self._journal, self._turn = shared.clock, shared.journal, shared.turn
        self._parking = parking

    def told(self, actor: Actor, digest: int, news: Sequence[Any]) -> None:
        """An actor that says that it has the turn tells what has become of its siblings, as struct simunix_handoff.

        The journal in shared memory, which comes first in time, tells of the actors of other processes. Raises ValueError or
        KeyError if what is told is impossible.
        """
        if any(self._slots[entry.slot].process is not actor.process for entry in news):
            raise ValueError("handoffs of another process")
        if len({entry.slot for entry in news}) < len(news):
            raise ValueError("handoffs that name a slot twice")
        self.catch_up(actor, news)
        self._log.handoffs(digest)

    def catch_up(self, runner: Actor, news: Sequence[Any] = ()) -> None:
        """Bring all actors to the state that the journal, then the news of the runner's process, say.

        Raises ValueError or KeyError if what they say is impossible.
        """
        latest: dict[int, Any] = {}
        for entry in (*self._journal.take(), *news):  # the last one of each slot, in the order in which the waits began
            latest.pop(entry.slot, None)
            latest[entry.slot] = entry
        latest.pop(runner.slot, None)
        self._wake_ready(latest)
        passed = [self._slots[slot] for slot in latest]
        if any(actor.state not in _MAY_HAVE_HAD_THE_TURN for actor in (runner, *passed)):
            raise ValueError("handoffs of an actor that was neither parked nor running")
        if all(actor.state is not STATE_RUNNING for actor in (runner, *passed)):
            raise ValueError("handoffs, none of them of the actor that had the turn")
        self._parking.unpark(runner)
        others = [
            (actor, entry) for actor, entry in zip(passed, latest.values(), strict=True) if not self._goes_on(actor, entry)
        ]
        for actor, _ in others:
            self._parking.unpark(actor)
        for actor, entry in others:
            self._begin(actor, entry)
        runner.state, runner.answer_at_slot = STATE_RUNNING, False
        self._turn.caught_up()

    def _wake_ready(self, latest: dict[int, Any]) -> None:
        """Take out of the news those actors that a signal had made ready before a sibling woke them: they keep their place."""
        for slot, entry in list(latest.items()):
            actor = self._slots[slot]
            if actor.state is STATE_READY and entry.is_ready:
                if actor.parked is not None:
                    actor.parked.leave(actor)
                actor.reply = (entry.wake, 0)
                del latest[slot]

    def _goes_on(self, actor: Actor, entry: Any) -> bool:
        """Whether an actor waits for the same as before, alone at its futex, only until later: most threads that tick do.

        The wait is then updated in place, which is cheaper than a new wait.
        """
        parked = actor.parked
        if entry.is_ready or parked is None or not parked.siblings_may_wake or actor.state is not STATE_PARKED:
            return False
        if entry.deadline < 0 or not isinstance(actor.timeout, Alarm):
            return False
        if not parked.goes_on(actor, entry.wait, entry.word, entry.bitset):
            return False
        parked.set_terms(entry.syscall, entry.deadline, entry.blocked, self._clock.now_ns, True)
        return True

    def _begin(self, actor: Actor, entry: Any) -> None:
        """Park an actor as the entry says, or make it ready if the entry says that its wait has ended."""
        actor.answer_at_slot = True
        if entry.is_ready:
            actor.reply = (entry.wake, 0)
            self._parking.make_ready(actor)
            return
        said = (entry.wait, entry.syscall, entry.deadline, entry.blocked, entry.word, entry.bitset)
        self._parking.park(actor, self._waits.make_by_sibling(*said, self._clock.now_ns), True)
