"""The Python part of the server's turn loop, for the cases that the C code in csrc/turn/loop.c cannot handle.

At most one actor (emulated thread) has the turn and runs. All others wait, or are ready in the run queue, which is
first in, first out. Events that are due by now happen before the next turn is given. The loop moves virtual time on
only when no actor is ready, or when all ready actors only look again and again for a change (preemption.py).
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Final

import msgpack

from rsg_server._native import lib
from rsg_server.handlers.table import Reply
from rsg_server.process.actor import FIRST_TURN, STATE_RUNNING, Actor
from rsg_server.protocol import Hello, Op
from rsg_server.shared.boxes import IN_BOX
from rsg_server.shared.clock import FOREVER_NS
from rsg_server.shared.outbox import IN_OUTBOX, TO_PARK
from rsg_server.turn.answers import Answers
from rsg_server.turn.core import LIES

if TYPE_CHECKING:
    from rsg_server.handlers.table import Answer, Handler
    from rsg_server.handlers.wait import ParkHandlers
    from rsg_server.turn.parts import Parts

SETTLE_LOOKS, SETTLE_S = 5, 0.001
"""How often, and for how many real seconds each time, the loop waits for the kernel to pass a terminal's characters on."""
LONG_NS = 1_000_000_000
"""Before a step of the clock of this length (ns) or more, the loop checks whether somebody still waits for what is due."""
OPERATION = int(Op.RSG)
"""The number of the only message whose arguments may be in its sender's box in shared memory."""
_MALFORMED = (ValueError, KeyError, TypeError, IndexError, OverflowError, struct.error, msgpack.UnpackException)
"""The exceptions that a handler raises if a message is malformed."""
_GOES_ON: Final[int] = lib.TURN_GOES_ON
_HAPPENS: Final[int] = lib.TURN_HAPPENS
_MESSAGE: Final[int] = lib.TURN_MESSAGE
_NEWS: Final[int] = lib.TURN_NEWS
_LISTEN: Final[int] = lib.TURN_LISTEN
_GIVE: Final[int] = lib.TURN_GIVE
_TELL: Final[int] = lib.TURN_TELL
_LOOK: Final[int] = lib.TURN_LOOK
_ADVANCE: Final[int] = lib.TURN_ADVANCE
_ELECT: Final[int] = lib.TURN_ELECT
_PICK: Final[int] = lib.TURN_PICK
_TIE: Final[int] = lib.TURN_TIE
_SETTLE: Final[int] = lib.TURN_SETTLE
_SPIN: Final[int] = lib.TURN_SPIN
_ALARM: Final[int] = lib.TURN_ALARM
_BUDGET: Final[int] = lib.TURN_BUDGET
_DRAIN: Final[int] = lib.TURN_DRAIN
_GUARD: Final[int] = lib.TURN_GUARD
_LIE: Final[int] = lib.TURN_LIE
_UNSETTLED: Final[int] = lib.TURN_UNSETTLED
_PYTHON_LOOKS: Final[int] = lib.TURN_PYTHON_LOOKS
_MAY_SPIN: Final[int] = lib.TURN_MAY_SPIN


class Outcome(Enum):
    """The reasons for which `TurnLoop.run` returns."""

    BUDGET = "the wall time it was given is over"
    COMPUTING = "the holder of the turn computes on"
    IDLE = "no actor can run and nothing is due"
    LIMIT = "the next event lies beyond the time limit"
    STOPPED = "the end was asked for"


class TurnLoop:
    """Gives turns until it has to wait for something outside of the emulation, which rsg_server.edge does (the only
    user of trio).
    """

    def __init__(self, parts: Parts, handlers: dict[int, Handler], parks: ParkHandlers) -> None:
        self._parts, self.core, self.listener = parts, parts.core, parts.listener
        self._clock, self._timeline, self._log = parts.shared.clock, parts.timeline, parts.log
        self._slots, self._boxes, self._outbox = parts.shared.slots, parts.shared.boxes, parts.shared.outbox
        self._moments, self._wakeups, self._preemption = parts.moments, parts.wakeups, parts.preemption
        self._failures, self._deaths = parts.failures, parts.deaths
        self.stop = False
        self.check: Callable[[Actor], None] | None = None  # called at each turn before the actor is woken (rsg_server.checks)
        self.handlers, self.parks = handlers, parks
        self.answers = Answers(parts)

    @property
    def holder(self) -> Actor | None:
        """The actor that has the turn from the server; None if no actor has the turn."""
        return self.core.holder

    @holder.setter
    def holder(self, holder: Actor | None) -> None:
        self.core.holder = holder

    @property
    def holder_since(self) -> float:
        """The real time (time.monotonic()) since which the holder has had the turn."""
        since_ns: int = self.core.struct.holder_since_ns
        return since_ns / 1e9

    @property
    def limit_ns(self) -> int:
        """The virtual time (ns) that the clock may not pass now, because of the pace or of a pause."""
        limit_ns: int = self.core.struct.limit_ns
        return limit_ns

    @limit_ns.setter
    def limit_ns(self, limit_ns: int) -> None:
        self.core.struct.limit_ns = min(limit_ns, FOREVER_NS)

    def run(self, budget_s: float) -> Outcome:
        """Give turns for about `budget_s` seconds of real time. Return why the loop stopped."""
        struct = self.core.struct
        struct.tells_turns = self.check is not None or self._log.tells_turns
        struct.counts_parks = self.parks.count is not None
        end_ns = time.monotonic_ns() + int(budget_s * 1e9)
        struct.rounds = 0
        while not self.stop:
            event = lib.turn_run(struct, self._flags(), end_ns, self._clock.known_ns)
            self._clock.saw(struct.known_ns)
            if event == _BUDGET:
                return Outcome.BUDGET
            outcome = self._act(event)
            if outcome is not None:
                return outcome
        return Outcome.STOPPED

    def _flags(self) -> int:
        """Return what the core (C code) must know before it goes on, as bits of enum turn_flag."""
        flags = 0
        if self._moments.is_unsettled:
            flags = _UNSETTLED
        if self._wakeups.are_more_than_epoll:
            flags |= _PYTHON_LOOKS
        if self._preemption.streak:
            flags |= _MAY_SPIN
        return flags

    def _act(self, event: int) -> Outcome | None:
        """Handle an event that the core reports (enum turn_event). Return why the loop must stop, or None if it goes on."""
        if event == _HAPPENS:
            self._timeline.take(self.core.which)()
        elif event == _MESSAGE:
            self._message(self.core.speaker)
        elif event == _NEWS:
            self._wakeups.serve_news()
        elif event == _LISTEN:
            return self._listen(self.core.actor)
        elif event == _GIVE:
            self._give(self.core.actor)
        elif event == _TELL:
            self._tell_checked(self.core.actor)
        elif event != _GOES_ON:
            return self._act_seldom(event)
        return None

    def _act_seldom(self, event: int) -> Outcome | None:
        core = self.core
        if event == _LOOK:
            core.struct.unsettled = self._wakeups.are_unsettled
            self._wakeups.wake_ready()
        elif event == _ADVANCE:
            return self._advance(self._timeline.next_ns)
        elif event == _SETTLE:
            self._moments.settle()
        elif event == _ELECT:
            actor = core.actor
            if self._wakeups.elect(actor):
                return self._act(lib.turn_elected(core.struct, actor.record, self._flags()))
        elif event == _PICK:
            picked = self._picked()
            if picked is not None:
                return self._act(lib.turn_chosen(core.struct, picked.record, self._flags()))
        elif event == _TIE:
            self._timeline.settle_tie()
        elif event == _SPIN:
            return self._spin()
        elif event == _ALARM:
            self._parts.parking.ring(core.which)
        elif event == _DRAIN:
            self._log.take_turns()
        elif event == _GUARD:
            self._parts.clock_guard.check(core.speaker, self.holder_since)
            return self._act(lib.turn_heard(core.struct, 1))
        elif event == _LIE:
            self._lied(core.speaker, LIES[core.which])
        else:
            raise OSError(core.which, os.strerror(core.which))
        return None

    def _picked(self) -> Actor | None:
        """Return the next actor by an order other than first in, first out, and begin its turn; None if it is put off."""
        actor = self._parts.parking.run_queue.pick()
        chosen = self._parts.chosen
        return actor if chosen is None or chosen.begin(actor) else None

    # The virtual clock

    def _spin(self) -> Outcome | None:
        """After turns were taken back, move time on if all actors that can run spin; else give the next turn."""
        if self._preemption.all_spin():
            return self._advance(self._timeline.next_ns)
        return self._act(lib.turn_next(self.core.struct, self._flags()))

    def _advance(self, due: int | None) -> Outcome | None:
        """Move the clock to the next event and let it happen. Called when no actor can run, or when all that can run spin."""
        queue = self._parts.parking.run_queue
        if self.core.struct.unsettled and self._settle():
            return None
        if due is None:
            self._wakeups.wake_ready()  # a process for which all others wait may have been killed from outside
            return None if queue or self._timeline.next_ns is not None else Outcome.IDLE
        if due > self.limit_ns:
            self._clock.advance_to(self.limit_ns)
            return Outcome.LIMIT
        if due - self._clock.now_ns >= LONG_NS and self._drop_dead_timers():
            return None
        spinners = len(queue)
        self._clock.advance_to(due)
        self._timeline.run_due(due)
        if spinners:
            self._preemption.time_moves(spinners)
        return None

    def _drop_dead_timers(self) -> bool:
        """If nothing but timerfds is due, close those that no process has open. Return whether there were any."""
        return self._parts.timerfds.drop_dead(self._parts.processes.values(), len(self._timeline))

    def _settle(self) -> bool:
        """Wait in real time for the kernel to pass a terminal's characters on, before virtual time moves.

        Return whether an actor has become ready by that.
        """
        self.core.struct.unsettled = 0
        for _ in range(SETTLE_LOOKS):
            time.sleep(SETTLE_S)
            self._wakeups.wake_ready()
            if self._parts.parking.run_queue:
                return True
        return False

    # Giving the turn

    def _give(self, actor: Actor) -> None:
        """Give the turn to an actor that gets more than a reason and a value at its slot, such as a reply over its channel."""
        self._parts.parking.leave(actor)
        if actor.is_new:
            actor.is_new, actor.tid = False, self._slots.tid(actor.slot)
        lib.turn_begin(self.core.struct)
        wake = actor.reply[0] if not actor.owes_message else FIRST_TURN
        if actor.spinner is None or not self._preemption.begins(actor, actor.spinner):
            self._log.turn(self._clock.now_ns, actor.number, wake)  # type: ignore[arg-type]
        if not actor.owes_message or actor.answer_at_slot:
            self.core.allow()
            if self.check is not None:
                self.check(actor)
            self.answers.tell(actor, actor.reply)

    def _tell_checked(self, actor: Actor) -> None:
        """Log the turn that the core has begun, check the invariants, and then wake the actor."""
        self._log.tell_turn(self._clock.now_ns, actor.number, actor.record.reply_wake)
        if self.check is not None:
            self.check(actor)
        lib.turn_tell(self.core.struct)

    # Messages

    def _message(self, speaker: Actor) -> None:
        """Handle a message that the core has taken from the outbox in shared memory."""
        if speaker is not self.holder:  # the first message of an actor must say that the actor has the turn
            self._deaths.kill(speaker.process)
            self.answers.lost_runner(speaker)
        else:
            self._heard(speaker, IN_OUTBOX)

    def _heard(self, actor: Actor, message: bytes) -> None:
        answer = None if actor.process.dead else self._handle(actor, message)
        if answer is not None:
            self._answer(actor, answer)

    def _listen(self, actor: Actor) -> Outcome | None:
        """Receive a message that the core cannot receive. Return COMPUTING if the holder of the turn still computes."""
        first, listener = self._parts.first_messages, self.listener
        try:
            if actor.owes_message:
                listener.speaker = actor
                message = first.receive(actor)
            else:
                message = listener.receive(actor)
        except BlockingIOError:
            heard = None if actor.owes_message else self._preemption.interrupt(actor, listener)
            if heard is None:
                self.holder = first.holder_of_vfork(actor)
                return Outcome.COMPUTING if self.holder is actor else None
            message = heard
        except ConnectionResetError:
            message = b""
        if message is IN_OUTBOX:
            return self._act(lib.turn_heard(self.core.struct, 0))
        speaker = listener.speaker or actor
        self._parts.clock_guard.check(speaker, self.holder_since)
        if not message:
            self.answers.lost_runner(speaker)
        elif speaker is not actor:
            self._deaths.kill(speaker.process)
            self.answers.lost_runner(speaker)
        else:
            self._heard(actor, message)
        return None

    def _lied(self, speaker: Actor, why: str) -> None:
        """End an actor that reports hand-offs (turns given without the server) that are impossible."""
        self._failures.kill(speaker, f"sent a malformed message ({why})")
        if speaker is not self.holder:
            self.answers.lost_runner(speaker)

    def _handle(self, actor: Actor, message: bytes) -> Answer:
        """Call the handler of a message, and return its answer. A malformed message ends its sender, and no other process."""
        handler = None
        try:
            if message is IN_BOX:
                handler = self.handlers[OPERATION]
                actor.answer_at_slot = True
                return handler.run(actor, self._boxes.take(actor.slot))
            if actor.process.memory_due_ns >= 0:
                self._parts.cgroups.count_memory(actor.process, is_due=False)
                if actor.process.dead:
                    return None
            actor.reply_at_slot = message is IN_OUTBOX and self._is_for_slot(actor)
            if message is IN_OUTBOX:
                if self._outbox.asked == TO_PARK:
                    return self.parks.park_at_slot(actor, self._outbox.park())
                message = self._outbox.message()
            operation, *arguments = msgpack.unpackb(message, use_list=False, unicode_errors="surrogateescape")
            handler = self.handlers[operation]
            if not handler.fits(arguments):
                raise ValueError(f"operation {operation}: arguments do not fit")
            return handler.run(actor, arguments)
        except OSError as error:
            return self._failures.own_failure(actor, handler, error)
        except _MALFORMED as error:
            self._failures.kill(actor, f"sent a malformed message ({error})")
            return None

    def _is_for_slot(self, actor: Actor) -> bool:
        """Return whether the sender of the message in the outbox waits at its slot.

        Raises ValueError for another actor's slot.
        """
        slot = self._outbox.slot
        if slot and slot != actor.slot:
            raise ValueError(f"a message that is to be answered at slot {slot}")
        return slot != 0

    def release(self, actor: Actor, reply: Reply) -> None:
        """Send the reply that was kept back while a debugger held the actor, which had the turn meanwhile."""
        if self.holder is actor:
            self.core.struct.holder_since_ns = time.monotonic_ns()
            self._answer(actor, reply)

    def _answer(self, actor: Actor, reply: Reply) -> None:
        """Send a reply with its descriptors."""
        if reply.newborn is not None and not reply.fds:
            self._introduce(reply.newborn)
        if actor.state is STATE_RUNNING:
            self.core.allow()
        if not reply.fds:
            self.answers.tell(actor, reply.values)
            return
        self.answers.send_with_descriptors(actor, reply)
        if reply.newborn is not None:
            self._introduce(reply.newborn)

    def _introduce(self, child: Actor) -> None:
        """Handle the HELLO of a child before any other actor runs. The child reads the reply in its first turn."""
        message = self._parts.first_messages.await_of(child)
        if message is None:
            return
        if not _says_hello(message):
            self._failures.kill(child, "sent a malformed message (no HELLO)")
            return
        answer = self._handle(child, message)
        if isinstance(answer, Reply):
            child.reply = answer.values


def _says_hello(message: bytes) -> bool:
    """Return whether a message is the HELLO of a child."""
    try:
        operation, kind = msgpack.unpackb(message)[:2]
        return operation == Op.HELLO and kind % Hello.REAPER in (Hello.FORKED, Hello.LATE)
    except _MALFORMED:
        return False
