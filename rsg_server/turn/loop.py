"""The turn loop: which actor runs next, and when virtual time moves on.

At most one actor holds the turn and runs; all others are parked, or ready in the run queue, which is served first in, first
out. What is due by now happens before the next turn is given. The loop moves virtual time on only when no actor is ready, or
when all that are ready have been found to spin (preemption.py).
"""

from __future__ import annotations

import array
import contextlib
import errno
import os
import signal
import socket
import struct
import time
from enum import Enum
from typing import TYPE_CHECKING

import msgpack

from rsg_server.clock.clock_page import (
    EVENT,
    FOREVER_NS,
    LOCK_WAITERS,
    LOOKAHEAD,
    MAY_HAVE_WOKEN,
    QUANTUM,
    RUNNING,
    SIBLINGS_READY,
)
from rsg_server.errors import LACKS, MORE_FILES, ServerError
from rsg_server.handlers import HANDLERS
from rsg_server.handlers.handoff import catch_up
from rsg_server.handlers.table import failed
from rsg_server.process import native_signal
from rsg_server.process.actor import Actor, State
from rsg_server.process.process import Process
from rsg_server.process.terminals import flush_waited
from rsg_server.protocol import MESSAGE_MAX, QUANTUM_NS, Hello, Op, Wait, Wake
from rsg_server.sockets.pair import SimulatedSocket
from rsg_server.turn.listener import Listener

if TYPE_CHECKING:
    from rsg_server.handlers.table import Handler, Reply
    from rsg_server.turn.needs import Kernel

SOLO_LIMIT_NS = 60 * 10**9
"""How far an actor that is alone may advance the clock before the server looks again."""
STEPS_BETWEEN_LOOKS = 64
SETTLE_LOOKS, SETTLE_S = 5, 0.001
BIRTH_LOOKS = 20
"""How many tenths of a second a forked child may take to say who it is; later (somebody stopped it) it says so in its turn."""
_CREDENTIALS = struct.Struct("=iII")


class Outcome(Enum):
    """Why the turn loop came back."""

    BUDGET = "the wall time it was given is over"
    COMPUTING = "the holder of the turn computes on"
    IDLE = "nobody can run and nothing is due"
    LIMIT = "what is due lies beyond the time limit"
    STOPPED = "somebody asked for the end"


class TurnLoop:
    """Gives turns until something outside the emulation has to be decided. Knows no trio."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.holder: Actor | None = None
        self.holder_since = 0.0
        self._unsettled = False  # what a process with a terminal did last may still be under way in the kernel
        self.limit_ns = FOREVER_NS  # the clock may not pass this (pace, pause)
        self.stop = False
        kernel.on_birth = self._receive_newborn
        self.listener = Listener(kernel)
        self._packer = msgpack.Packer(autoreset=True, unicode_errors="surrogateescape")

    def run(self, budget_s: float) -> Outcome:
        """Run for about `budget_s` seconds of wall time."""
        kernel = self.kernel
        queue = kernel.run_queue
        end = time.monotonic() + budget_s
        steps = 0
        while not self.stop:
            steps += 1  # moments count as well as turns: a timer that nobody heeds must not keep the user's Ctrl-C out
            if steps % STEPS_BETWEEN_LOOKS == 0 and time.monotonic() > end:
                return Outcome.BUDGET
            if self.holder is None:
                if kernel.readiness.may_have_changed or kernel.page.words[MAY_HAVE_WOKEN]:
                    self._unsettled = bool(kernel.signals.listeners)
                    self._poll_ready()
                due = kernel.timeline.next_ns
                if due is not None and due <= kernel.now_ns:
                    kernel.timeline.run_due(kernel.now_ns)
                    continue
                if not queue:
                    outcome = self._advance(due)
                    if outcome is not None:
                        return outcome
                    continue
                if kernel.preemption.streak and kernel.preemption.all_spin() and due is not None:
                    outcome = self._advance(due)
                    if outcome is not None:
                        return outcome
                    continue
                self._give(queue.popleft())
            if self._serve():
                return Outcome.COMPUTING
        return Outcome.STOPPED

    # The clock

    def _advance(self, due: int | None) -> Outcome | None:
        """Nobody can run, or nobody does but spin: move the clock to the next event and let it happen."""
        if self._unsettled and self._settle():
            return None
        if due is None:
            self._poll_ready()  # somebody outside may have killed whom all wait for
            return None if self.kernel.run_queue or self.kernel.timeline.next_ns is not None else Outcome.IDLE
        if due > self.limit_ns:
            self.kernel.page.advance_to(self.limit_ns)
            return Outcome.LIMIT
        spinners = len(self.kernel.run_queue)
        self.kernel.page.advance_to(due)
        self.kernel.timeline.run_due(due)
        if spinners:
            self.kernel.preemption.time_moves(spinners)
        return None

    def _settle(self) -> bool:
        """A terminal hands characters on in a work queue of the kernel's: give that a moment before time passes."""
        self._unsettled = False
        for _ in range(SETTLE_LOOKS):
            time.sleep(SETTLE_S)
            self._poll_ready()
            if self.kernel.run_queue:
                return True
        return False

    def _set_lookahead(self) -> None:
        """Tell the shims how far the holder may go alone, and when something is due."""
        kernel = self.kernel
        words = kernel.page.words
        due = kernel.timeline.next_ns
        words[EVENT] = FOREVER_NS if due is None else min(due, FOREVER_NS)
        if kernel.run_queue:
            words[EVENT] = min(words[EVENT], max(words[QUANTUM], kernel.now_ns + 1))
            words[LOOKAHEAD] = 0
        else:
            own = kernel.timeline.next_own_ns
            words[LOOKAHEAD] = min(kernel.now_ns + SOLO_LIMIT_NS, self.limit_ns, FOREVER_NS if own is None else own)
        self.listener.prepare()

    # The turn

    def _give(self, actor: Actor) -> None:
        """Hand the turn to an actor: its answer is what it waits for."""
        kernel = self.kernel
        self.holder = actor
        self.holder_since = time.monotonic()
        actor.state = State.RUNNING
        if actor.parked is not None and actor.parked.wait == Wait.FUTEX:
            kernel.futexes.remove(actor)
        actor.parked = None
        if actor.is_new:
            actor.is_new, actor.tid = False, kernel.page.tid_at(actor.slot)
        kernel.page.words[MAY_HAVE_WOKEN] = 0
        kernel.page.words[RUNNING] = kernel.page.words[SIBLINGS_READY] = 0
        kernel.page.words[LOCK_WAITERS] = kernel.futexes.lock_waiters
        kernel.page.words[QUANTUM] = kernel.now_ns + QUANTUM_NS
        wake = actor.reply[0] if not actor.owes_message else 255
        if actor.spinner is None or not kernel.preemption.begins(actor, actor.spinner):
            kernel.log.turn(kernel.now_ns, actor.number, wake)  # type: ignore[arg-type]
        if not actor.owes_message:
            self._set_lookahead()
            self._tell(actor, actor.reply)

    def _tell(self, actor: Actor, values: tuple[object, ...]) -> None:
        """Answer an actor where it waits."""
        if actor.answer_at_slot:
            actor.answer_at_slot = False
            self.kernel.page.answer(actor.slot, *values)  # type: ignore[arg-type]
        else:
            self._send(actor, self._packer.pack(values))

    def _send(self, actor: Actor, message: bytes) -> None:
        try:
            actor.channel.send(message, socket.MSG_DONTWAIT)
        except (BrokenPipeError, ConnectionResetError):
            self._lost(actor)
        except BlockingIOError:
            self._deaf(actor)

    def _deaf(self, actor: Actor) -> None:
        """Hundreds of answers unread: no shim sends another message before it has read the last answer."""
        self.kernel.warn(f"{actor!r} does not read its answers; the process is killed")
        self._kill(actor.process)

    def _serve(self) -> bool:
        """Answer the holder until it gives the turn back; True if it is still computing."""
        actor = self.holder
        while actor is not None and self.holder is actor:
            try:
                message = self._receive_first(actor) if actor.owes_message else self.listener.receive(actor)
            except BlockingIOError:
                heard = None if actor.owes_message else self.kernel.preemption.interrupt(actor, self.listener)
                if heard is None:
                    return not self._failed_vfork(actor)
                message = heard
            except ConnectionResetError:
                message = b""
            speaker = self.listener.speaker or actor
            if not message:
                self._lost_on_the_way(speaker)
                return False
            reply = self._handle(speaker, message)
            if reply is not None:
                self._answer(speaker, reply)
            if speaker is not actor and self.kernel.handed_to is None:  # that is what it had to say first
                self._kill(speaker.process)
                self._lost_on_the_way(speaker)
                return False
            if self.kernel.handed_to is not None:
                self.holder = actor = self.kernel.handed_to
                self.kernel.handed_to = None
                self.listener.expect_more()
            if actor.state is not State.RUNNING:
                self.holder = None
        return False

    def _handle(self, actor: Actor, message: bytes) -> Reply | None:
        """Let the handler of a message answer it. Whatever is wrong with the message ends its sender, nobody else."""
        handler = None
        try:
            operation, *arguments = msgpack.unpackb(message, use_list=False, unicode_errors="surrogateescape")
            handler = HANDLERS[operation]
            if not handler.fits(arguments):
                raise ValueError(f"operation {operation}: arguments do not fit")
            return handler.run(self.kernel, actor, arguments)
        except OSError as error:
            return self._own_failure(actor, handler, error)
        except (
            ValueError,
            KeyError,
            TypeError,
            IndexError,
            OverflowError,
            struct.error,
            msgpack.UnpackException,
        ) as error:
            self.kernel.warn(f"{actor!r} sent a malformed message ({error}); the process is killed")
            self._kill(actor.process)
            return None

    def release(self, actor: Actor, reply: Reply) -> None:
        """Answer an actor that has kept the turn while its answer was kept back."""
        if self.holder is actor:
            self.holder_since = time.monotonic()
            self._answer(actor, reply)

    def _own_failure(self, actor: Actor, handler: Handler | None, error: OSError) -> Reply:
        """The kernel refused the server something, never the sender's fault: an errno for it, or the end of the run."""
        if error.errno in LACKS and handler is not None and handler.makes_descriptors:
            self.kernel.warn(f"{actor!r}: the server has no descriptor for it ({error.strerror}); {MORE_FILES}")
            return failed(errno.ENFILE)
        mend = f"; {MORE_FILES}" if error.errno in LACKS else ""
        raise ServerError(f"the server failed while it served {actor!r}: {error}{mend}") from error

    def _answer(self, actor: Actor, reply: Reply) -> None:
        if actor.state is State.RUNNING:
            self._set_lookahead()
        if not reply.fds:
            self._tell(actor, reply.values)
            return
        message = self._packer.pack(reply.values)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", reply.fds))]
        try:
            actor.channel.sendmsg([message], rights, socket.MSG_DONTWAIT)
        except (BrokenPipeError, ConnectionResetError):
            self._lost(actor)
        except BlockingIOError:
            self._deaf(actor)
        finally:
            for fd in reply.fds if reply.close else ():
                os.close(fd)

    def _receive_first(self, actor: Actor) -> bytes:
        """An actor's first message tells which real process it comes from (SCM_CREDENTIALS, in our PID namespace)."""
        self.listener.speaker = actor
        message, ancillary, _, _ = actor.channel.recvmsg(MESSAGE_MAX, socket.CMSG_SPACE(_CREDENTIALS.size))
        if message:
            actor.owes_message = False
            process = actor.process
            for level, kind, data in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS and process.pidfd < 0:
                    try:
                        process.open_pidfd(_CREDENTIALS.unpack(data[: _CREDENTIALS.size])[0])
                    except ProcessLookupError:  # killed before its first turn, and waited for already
                        self.kernel.lifecycle.reap(process)
                        return b""
        return message

    def _receive_newborn(self, child: Actor) -> None:
        """A forked child says who it is before its parent goes on, then waits for its turn: from now on signals find it."""
        for _ in range(BIRTH_LOOKS):
            try:
                message = self._receive_first(child)
            except BlockingIOError:
                continue
            except ConnectionResetError:
                message = b""
            if message:
                self._greet(child, message)
            else:
                self._stillborn(child.process)
            return

    def _greet(self, child: Actor, message: bytes) -> None:
        if not _says_hello(message):
            self.kernel.warn(f"{child!r} sent a malformed message (no HELLO); the process is killed")
            self._kill(child.process)
            return
        reply = self._handle(child, message)
        if reply is not None:
            child.reply = reply.values

    def _stillborn(self, process: Process) -> None:
        """Killed from outside before it had said a word: only its parent can tell who it was."""
        if process.parent is not None and process.pidfd < 0:
            with contextlib.suppress(ProcessLookupError):
                process.open_pidfd(native_signal.global_child(process.parent.global_pid, process.pid))
        self.kernel.lifecycle.await_death(process)

    def _failed_vfork(self, child: Actor) -> bool:
        """A vfork that the kernel refused: the parent speaks in the child's place."""
        parent = child.process.vfork_parent
        if not child.owes_message or parent is None or parent.state is not State.VFORK:
            return False
        try:
            parent.channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        child.process.vfork_parent = None
        self.kernel.lifecycle.reap(child.process)
        parent.state = State.RUNNING
        self.holder = parent
        return True

    def _lost_on_the_way(self, runner: Actor) -> None:
        """Who had the turn has died without a word; how it had come by it stands in the journal."""
        if runner is not self.holder:
            with contextlib.suppress(ValueError, KeyError):
                catch_up(self.kernel, runner)
            self.holder = None
        self._lost(runner)

    def _lost(self, actor: Actor) -> None:
        """The channel ended without a word: its process has died, or will."""
        if self.holder is actor:
            self.holder = None
        if actor.process.pidfd < 0 and not actor.process.dead:
            self.kernel.warn(f"{actor.process!r} ended before it had begun")
        self.kernel.lifecycle.await_death(actor.process)

    def _kill(self, process: Process) -> None:
        if process.pidfd >= 0:
            native_signal.send(process.pidfd, signal.SIGKILL)
        self.kernel.lifecycle.await_death(process)

    # Readiness

    def _poll_ready(self) -> None:
        """Ask the kernel what has become ready, and act in the order of our own numbers."""
        kernel = self.kernel
        again = True
        while again:
            again = False
            kernel.readiness.may_have_changed = False
            flush_waited(kernel.at_terminals)
            kernel.signals.look()
            kernel.page.words[MAY_HAVE_WOKEN] = 0
            news = kernel.readiness.news()
            if not news:
                return
            for target, events in news:
                if isinstance(target, Actor):
                    if target.parked is not None and target.parked.wait == Wait.FD:
                        kernel.wake(target, Wake.READY)
                elif isinstance(target, SimulatedSocket):
                    kernel.sockets.ready(target, events)
                elif isinstance(target, Process) and not target.dead:
                    kernel.lifecycle.await_death(target)
                    again = True
            again = again or kernel.readiness.may_have_changed


def _says_hello(message: bytes) -> bool:
    """Whether it is what a forked child says first."""
    try:
        return list(msgpack.unpackb(message)[:2]) == [Op.HELLO, Hello.FORKED]
    except (ValueError, TypeError, msgpack.UnpackException):
        return False
