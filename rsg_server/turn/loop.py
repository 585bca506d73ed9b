"""The turn loop: which actor runs next, and when virtual time moves on.

At most one actor holds the turn and runs; all others are parked, or ready in the run queue, which is served first in, first
out. What is due by now happens before the next turn is given. The loop moves virtual time on only when no actor is ready, or
when all that are ready have been found to spin (preemption.py).
"""

from __future__ import annotations

import array
import contextlib
import os
import socket
import struct
import time
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

import msgpack

from rsg_server.handlers.table import Reply
from rsg_server.process.actor import FIRST_TURN, STATE_RUNNING, Actor
from rsg_server.protocol import QUANTUM_NS, Hello, Op
from rsg_server.shared.boxes import IN_BOX
from rsg_server.shared.clock import FOREVER_NS
from rsg_server.shared.outbox import IN_OUTBOX, TO_PARK
from rsg_server.turn import births, clock_guard, failures
from rsg_server.turn.allowance import set_lookahead
from rsg_server.turn.listener import Listener
from rsg_server.turn.wakeups import elect, wake_ready

if TYPE_CHECKING:
    from rsg_server.handlers.handoff import Handoffs
    from rsg_server.handlers.table import Answer, Handler
    from rsg_server.handlers.wait import ParkHandlers
    from rsg_server.turn.needs import LoopKernel

ROUNDS_BETWEEN_LOOKS = 64
"""How many turns and moments pass before the loop looks at the wall clock."""
LONG_NS = 1_000_000_000
"""Before the clock moves by as much, it is worth the while to ask who waits for what is due."""
SETTLE_LOOKS, SETTLE_S = 5, 0.001
"""How often, and after how many real seconds each, the loop looks whether a terminal has handed characters on."""
UNREAD = "does not read its answers"
"""Why a process is killed whose channel is full: no shim sends a message before it has read the last reply."""
OPERATION, OPERATION_VALUES = int(Op.RSG), 3
"""The message that may lie in its sender's box, and how many values answer it: more than those that a slot alone answers."""
_MALFORMED = (ValueError, KeyError, TypeError, IndexError, OverflowError, struct.error, msgpack.UnpackException)
"""What a handler raises because of what a message says."""


class Outcome(Enum):
    """Why the turn loop returned."""

    BUDGET = "the wall time it was given is over"
    COMPUTING = "the holder of the turn computes on"
    IDLE = "no actor can run and nothing is due"
    LIMIT = "the next event lies beyond the time limit"
    STOPPED = "the end was asked for"


class TurnLoop:
    """Gives turns until something outside the emulation has to be decided; trio is known to rsg_server.edge only."""

    def __init__(self, kernel: LoopKernel, handlers: dict[int, Handler], parks: ParkHandlers, handoffs: Handoffs) -> None:
        self.kernel = kernel
        self._clock, self._turn = kernel.shared.clock, kernel.shared.turn
        self._slots, self._boxes, self._outbox = kernel.shared.slots, kernel.shared.boxes, kernel.shared.outbox
        self.holder: Actor | None = None
        self.holder_since = 0.0
        self._unsettled = False  # a terminal's characters may still be under way in the kernel
        self.limit_ns = FOREVER_NS  # pace or pause: the clock may not pass this moment
        self.stop = False
        self.check: Callable[[Actor], None] | None = None  # looks at each turn before its holder is told (rsg_server.checks)
        self.listener = Listener(kernel)
        self.handlers, self.parks, self._handoffs = handlers, parks, handoffs
        self._packer = msgpack.Packer(autoreset=True, unicode_errors="surrogateescape")

    def run(self, budget_s: float) -> Outcome:
        """Run for about `budget_s` seconds of wall time."""
        kernel = self.kernel
        queue, turn, timeline, readiness = kernel.run_queue, self._turn, kernel.timeline, kernel.readiness
        clock, moments, preemption = self._clock, kernel.rsg.moments, kernel.preemption
        end = time.monotonic() + budget_s
        rounds = 0
        while not self.stop:
            rounds += 1  # moments count as well as turns: a timer that wakes no actor must not delay Ctrl-C
            if rounds % ROUNDS_BETWEEN_LOOKS == 0 and time.monotonic() > end:
                return Outcome.BUDGET
            if self.holder is None:
                if readiness.may_have_changed or turn.may_have_woken:
                    self._unsettled = kernel.signals.is_at_terminal and bool(kernel.signals.listeners)
                    wake_ready(kernel)
                due = timeline.next_ns
                if due is not None and due <= clock.now_ns:
                    timeline.run_due(clock.now_ns)
                    continue
                if not queue and moments.is_unsettled:
                    moments.settle()
                    continue
                if not queue or (preemption.streak and preemption.all_spin() and due is not None):
                    outcome = self._advance(due)
                    if outcome is not None:
                        return outcome
                    continue
                actor = queue.pick()
                if not actor.is_nominated or elect(kernel, actor):
                    self._give(actor)
                else:
                    continue
            if self._serve():
                return Outcome.COMPUTING
        return Outcome.STOPPED

    # The clock

    def _advance(self, due: int | None) -> Outcome | None:
        """Move the clock to the next event and let it happen: no actor can run, or all that can run spin."""
        if self._unsettled and self._settle():
            return None
        if due is None:
            wake_ready(self.kernel)  # a process that all wait for may have been killed from outside
            return None if self.kernel.run_queue or self.kernel.timeline.next_ns is not None else Outcome.IDLE
        if due > self.limit_ns:
            self._clock.advance_to(self.limit_ns)
            return Outcome.LIMIT
        if due - self.kernel.now_ns >= LONG_NS and self._drop_dead_timers():
            return None
        spinners = len(self.kernel.run_queue)
        self._clock.advance_to(due)
        self.kernel.timeline.run_due(due)
        if spinners:
            self.kernel.preemption.time_moves(spinners)
        return None

    def _drop_dead_timers(self) -> bool:
        """Whether what was due next was due to nobody: a timerfd that no process has open any more."""
        kernel = self.kernel
        return kernel.timerfds.drop_dead(kernel.processes.values(), len(kernel.timeline))

    def _settle(self) -> bool:
        """Wait for the kernel's work queue, which hands a terminal's characters on in real time, before virtual time passes.

        True if an actor has become ready by that.
        """
        self._unsettled = False
        for _ in range(SETTLE_LOOKS):
            time.sleep(SETTLE_S)
            wake_ready(self.kernel)
            if self.kernel.run_queue:
                return True
        return False

    # The turn

    def _give(self, actor: Actor) -> None:
        """Give the turn to an actor, by sending the reply that it waits for."""
        kernel = self.kernel
        self.holder = actor
        self.holder_since = time.monotonic()
        actor.state = STATE_RUNNING
        if actor.parked is not None:
            actor.parked.leave(actor)
            actor.parked = None
        if actor.is_new:
            actor.is_new, actor.tid = False, self._slots.tid(actor.slot)
        now_ns = self._clock.now_ns
        self._turn.begin(now_ns + QUANTUM_NS, kernel.futexes.lock_waiters)
        wake = actor.reply[0] if not actor.owes_message else FIRST_TURN
        if actor.spinner is None or not kernel.preemption.begins(actor, actor.spinner):
            kernel.log.turn(now_ns, actor.number, wake)  # type: ignore[arg-type]
        if not actor.owes_message or actor.answer_at_slot:
            set_lookahead(kernel, self.limit_ns)
            self.listener.prepare()
            if self.check is not None:
                self.check(actor)
            self._tell(actor, actor.reply)

    def _tell(self, actor: Actor, values: tuple[object, ...]) -> None:
        """Send the values of a reply to an actor: to where it waits, its slot or its channel."""
        if actor.answer_at_slot:
            actor.answer_at_slot = False
            if len(values) == OPERATION_VALUES:
                self._slots.answer_operation(actor.slot, values[0], values[1], values[2])  # type: ignore[arg-type]
            else:
                self._slots.answer(actor.slot, values[0], values[1])  # type: ignore[arg-type]
        elif not actor.reply_at_slot:
            self._send(actor, self._packer.pack(values))
        elif len(values) == 1 and type(values[0]) is int:
            self._slots.answer_status(actor.slot, values[0])
        elif not self._slots.answer_message(actor.slot, self._packer.pack(values)):
            self._send(actor, self._packer.pack(values))
            self._slots.answer_at_channel(actor.slot)

    def _send(self, actor: Actor, message: bytes) -> None:
        try:
            actor.channel.send(message, socket.MSG_DONTWAIT)
        except (BrokenPipeError, ConnectionResetError):
            self._lost(actor)
        except BlockingIOError:
            failures.kill(self.kernel, actor, UNREAD)

    def _serve(self) -> bool:
        """Reply to the messages of the holder until it gives the turn back; True if the holder still computes."""
        actor = self.holder
        while actor is not None and self.holder is actor:
            try:
                if actor.owes_message:
                    self.listener.speaker = actor
                    message = births.receive_first(self.kernel, actor)
                else:
                    message = self.listener.receive(actor)
            except BlockingIOError:
                heard = None if actor.owes_message else self.kernel.preemption.interrupt(actor, self.listener)
                if heard is None:
                    self.holder = births.holder_of_vfork(self.kernel, actor)
                    return self.holder is actor
                message = heard
            except ConnectionResetError:
                message = b""
            speaker = self.listener.speaker or actor
            clock_guard.check(self.kernel, speaker, self.holder_since)
            if not message:
                self._lost_runner(speaker)
                return False
            if message is IN_OUTBOX and self._outbox.tells_handoffs and self._catch_up(speaker):
                self.holder = actor = speaker
            if speaker is not actor:  # its first message must say that it has the turn
                self.kernel.deaths.kill(speaker.process)
                self._lost_runner(speaker)
                return False
            answer = None if actor.process.dead else self._handle(actor, message)
            if answer is not None:
                self._answer(actor, answer)
            if actor.state is not STATE_RUNNING:
                self.holder = None
        return False

    def _handle(self, actor: Actor, message: bytes) -> Answer:
        """Run the handler of a message, and return its answer. A malformed message ends its sender, and no other process."""
        handler = None
        try:
            if message is IN_BOX:
                handler = self.handlers[OPERATION]
                actor.answer_at_slot = True
                return handler.run(actor, self._boxes.take(actor.slot))
            if actor.process.memory_due_ns >= 0:
                self.kernel.cgroups.count_memory(actor.process, is_due=False)
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
            return failures.own_failure(self.kernel, actor, handler, error)
        except _MALFORMED as error:
            failures.kill(self.kernel, actor, f"sent a malformed message ({error})")
            return None

    def _is_for_slot(self, actor: Actor) -> bool:
        """Whether an actor waits at its slot for the answer to what lay in the outbox. Raises ValueError for another's slot."""
        slot = self._outbox.slot
        if slot and slot != actor.slot:
            raise ValueError(f"a message that is to be answered at slot {slot}")
        return slot != 0

    def _catch_up(self, actor: Actor) -> bool:
        """Learn from the outbox how the turn came to its sender; False, and the sender is ended, if that cannot be."""
        try:
            self._handoffs.told(actor, self._outbox.digest, self._outbox.news())
        except _MALFORMED as error:
            failures.kill(self.kernel, actor, f"sent a malformed message ({error})")
            return False
        return True

    def release(self, actor: Actor, reply: Reply) -> None:
        """Send the reply that was kept back from an actor that a debugger held; the actor has had the turn all the while."""
        if self.holder is actor:
            self.holder_since = time.monotonic()
            self._answer(actor, reply)

    def _answer(self, actor: Actor, reply: Reply) -> None:
        """Send a reply, with its descriptors."""
        if reply.newborn is not None and not reply.fds:
            self._introduce(reply.newborn)
        if actor.state is STATE_RUNNING:
            set_lookahead(self.kernel, self.limit_ns)
            self.listener.prepare()
        if not reply.fds:
            self._tell(actor, reply.values)
            return
        message = self._packer.pack(reply.values)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", reply.fds))]
        try:
            actor.channel.sendmsg([message], rights, socket.MSG_DONTWAIT)
            if actor.reply_at_slot:
                self._slots.answer_at_channel(actor.slot)
        except (BrokenPipeError, ConnectionResetError):
            self._lost(actor)
        except BlockingIOError:
            failures.kill(self.kernel, actor, UNREAD)
        finally:
            for fd in reply.fds if reply.close else ():
                os.close(fd)
        if reply.newborn is not None:
            self._introduce(reply.newborn)

    def _introduce(self, child: Actor) -> None:
        """Handle the HELLO of a child before its parent or others go on; a reply is read by the child in its first turn."""
        message = births.await_first(self.kernel, child)
        if message is None:
            return
        if not _says_hello(message):
            failures.kill(self.kernel, child, "sent a malformed message (no HELLO)")
            return
        answer = self._handle(child, message)
        if isinstance(answer, Reply):
            child.reply = answer.values

    def _lost_runner(self, runner: Actor) -> None:
        """End the process of the actor that had the turn; the journal says how the turn came to it without the server."""
        if runner is not self.holder:
            with contextlib.suppress(ValueError, KeyError):
                self._handoffs.catch_up(runner)
            self.holder = None
        self._lost(runner, in_turn=True)

    def _lost(self, actor: Actor, in_turn: bool = False) -> None:
        """End the process of an actor whose channel has ended: the process has died, or is about to."""
        if self.holder is actor:
            self.holder = None
        if actor.process.pidfd < 0 and not actor.process.dead and not births.find_dead(self.kernel, actor):
            self.kernel.warner.warn(f"{actor.process!r} ended before it had begun")
        self.kernel.deaths.met_dead(actor.process, in_turn)


def _says_hello(message: bytes) -> bool:
    """Whether a message is a HELLO of a child."""
    try:
        operation, kind = msgpack.unpackb(message)[:2]
        return operation == Op.HELLO and kind % Hello.REAPER in (Hello.FORKED, Hello.LATE)
    except _MALFORMED:
        return False
