"""Takes the turn back from who computes on without a call: it may spin until another actor has done something.

One actor runs at a time, so a loop that waits for a word of shared memory to change would wait for ever. Nobody can tell such a
loop from a long computation, which had better be left alone: it is let run for a while before anything happens. Then the others
that can run go first. Cpu takes no virtual time, but waiting does: once all that can run have been preempted several
times over, and nobody has made a call in between, they wait for what is not there yet, and time moves on to what is due.

Who goes on by itself after that was spinning, and will again: it is suspected sooner from then on. A spinner that only looks
finds the same however long it was let look, so its turns leave no trace in the event log.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import TYPE_CHECKING

from rsg_server.clock.clock_page import MAY_HAVE_WOKEN, PREEMPT, RUNNING, SIBLINGS_READY
from rsg_server.diagnosis.stalls import process_text
from rsg_server.process import native_signal
from rsg_server.process.actor import Actor, Spinner

if TYPE_CHECKING:
    from rsg_server.turn.listener import Listener
    from rsg_server.turn.needs import Kernel

SHORTEST_NS = 4_000_000
"""CPU time that a known spinner may compute without a call: thousands of looks, and little to wait for."""
ROUNDS, KNOWN_ROUNDS = 5, 2
"""How many patiences each that can run must have spun before time moves on: a stranger (of its first ones), a known spinner."""
ROUNDS_TOGETHER = 100
"""The same for several that can run: what looks like waiting may be work that they pass to and fro in shared memory."""
LOOKS = 10
"""How many of its patiences a known spinner is looked at in a row, before the server turns to other things."""
ANSWER_S = 2.0
STALL_S = 10.0
_TIMEVAL = struct.Struct("=qq")


class Preemption:
    """`after_ns`: CPU time that an actor may compute without a call, None: as long as it likes."""

    def __init__(self, kernel: Kernel) -> None:
        self.after_ns: int | None = None
        self.count = 0  # turns that were taken back
        self.moves = 0  # times that the clock moved on although somebody could run
        self.streak = 0  # turns taken back in a row while nobody in the whole emulation has made a call
        self._kernel = kernel
        self._calls = -1
        self._since = 0.0
        self._watched: tuple[int, int] = (0, 0)
        self._watched_cpu_ns = 0

    def interrupt(self, actor: Actor, listener: Listener) -> bytes | None:
        """The holder of the turn is silent: take the turn back if it is time. What it says then, None if it is silent still."""
        kernel = self._kernel
        if self.after_ns is None or actor.owes_message or kernel.debugger is not None:
            return None
        if not self._others_may_run() and kernel.timeline.next_ns is None and not kernel.page.words[RUNNING]:
            return None  # nobody waits for its turn to end
        runner = listener.runner(actor)
        for _ in range(1 if runner.spinner is None else LOOKS):
            if self._is_time(runner):
                return self._take_back(actor, runner, listener)
            if runner.spinner is None:
                return None
            message = listener.receive_now(actor)
            if message is not None:
                return message
            runner = listener.runner(actor)
        return None

    def _take_back(self, actor: Actor, runner: Actor, listener: Listener) -> bytes | None:
        """Ask for the turn, which the actor may have handed on to the runner.

        A call that it has just made comes before that, and counts; a loaded host lets it hear late.
        """
        self._kernel.page.words[PREEMPT] = 1
        native_signal.preempt(runner.process.global_pid, self._global_tid(runner))
        end = time.monotonic() + ANSWER_S
        message = listener.receive_now(actor)
        while message is None and time.monotonic() < end:
            message = listener.receive_now(actor)
        self._kernel.page.words[PREEMPT] = 0
        return message

    def _is_time(self, actor: Actor) -> bool:
        """Has it used up its patience since it (or anybody) last made a call?"""
        calls, cpu_ns = self._kernel.page.calls(), native_signal.process_cpu_ns(actor.process.global_pid)
        spinner = actor.spinner
        if spinner is None:
            if self._watched != (actor.number, calls):
                self._watched, self._watched_cpu_ns = (actor.number, calls), cpu_ns
            return cpu_ns - self._watched_cpu_ns >= (self.after_ns or 0) * self._turns_at_once(ROUNDS)
        if spinner.calls != calls:
            self._went_on(actor, spinner)
            spinner.calls, spinner.cpu_ns = calls, cpu_ns
        return cpu_ns - spinner.cpu_ns >= spinner.patience_ns * self._turns_at_once(self._rounds(spinner))

    def _others_may_run(self) -> bool:
        """Somebody can, or may be able to by what was done in this turn."""
        words = self._kernel.page.words
        return bool(self._kernel.run_queue or words[MAY_HAVE_WOKEN] or words[SIBLINGS_READY])

    def _turns_at_once(self, rounds: int) -> int:
        """Nobody else can run: it need not be disturbed before time is to move on."""
        return 1 if self._others_may_run() else rounds

    @staticmethod
    def _global_tid(actor: Actor) -> int:
        if actor.spinner is not None:
            return actor.spinner.global_tid
        return native_signal.global_tid(actor.process.global_pid, actor.tid)

    def gave_back(self, actor: Actor) -> None:
        """It has been preempted, and joins the end of the run queue."""
        if actor.spinner is None:
            actor.spinner = Spinner(self._global_tid(actor), self.after_ns or SHORTEST_NS)
        actor.spinner.was_preempted = True
        self._look_sooner(actor, actor.spinner)
        if self.count == 0:
            self._kernel.on_warning(
                f"{actor!r} computes without a call: preempted, so this run is not deterministic (preempt_after)"
            )
        self.count += 1
        calls, turns = self._kernel.page.calls(), self._turns_at_once(self._rounds(actor.spinner))
        if self.streak and calls == self._calls:
            self.streak += turns
            self._tell_stall(actor)
        else:
            self.streak, self._since = turns, time.monotonic()
        self._calls = calls

    def _tell_stall(self, actor: Actor) -> None:
        """They pass the turn round among themselves, so it does come back; but nothing else will."""
        waited = time.monotonic() - self._since
        if waited > STALL_S and self._kernel.timeline.next_ns is None:
            self._since = float("inf")  # once
            others = len(self._kernel.run_queue)
            self._kernel.on_warning(
                f"nobody has made a call for {waited:.0f} s of wall time, and nothing is due: "
                f"{process_text(actor.process)} thread {actor.tid} computes on, as do {others} others"
            )

    def begins(self, actor: Actor, spinner: Spinner) -> bool:
        """A turn of an actor that has been preempted before; whether it only goes on with the last one."""
        spinner.calls, spinner.cpu_ns = self._kernel.page.calls(), native_signal.process_cpu_ns(actor.process.global_pid)
        if not spinner.was_preempted:
            self._went_on(actor, spinner)
        spinner.goes_on, spinner.was_preempted = spinner.was_preempted, False
        return spinner.goes_on

    @staticmethod
    def _went_on(actor: Actor, spinner: Spinner) -> None:
        """It has made a call once others had run: it was spinning, not computing."""
        if spinner.goes_on:
            spinner.is_known, spinner.goes_on = True, False

    def _look_sooner(self, actor: Actor, spinner: Spinner) -> None:
        """Others could run all the while: from now on they need not wait for so long."""
        if spinner.patience_ns > SHORTEST_NS and (spinner.is_known or self._others_may_run()):
            spinner.patience_ns = max(spinner.patience_ns // 2, SHORTEST_NS)
            patience = _TIMEVAL.pack(*divmod(spinner.patience_ns // 1000, 10**6))
            actor.channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)

    def _rounds(self, spinner: Spinner) -> int:
        """How often it must be preempted before time moves on: a stranger for a second in all, it may be computing."""
        return KNOWN_ROUNDS if spinner.is_known else ROUNDS * (self.after_ns or 0) // spinner.patience_ns

    def all_spin(self) -> bool:
        """Whether all that can run do nothing but wait, as far as anybody can tell."""
        needed, together = 0, len(self._kernel.run_queue) > 1
        for actor in self._kernel.run_queue:
            if actor.spinner is None or not actor.spinner.was_preempted:
                return False
            needed += max(self._rounds(actor.spinner), ROUNDS_TOGETHER) if together else self._rounds(actor.spinner)
        return 0 < needed <= self.streak and self._kernel.page.calls() == self._calls

    def time_moves(self, spinners: int) -> None:
        """Something was due, of which spinners cannot know, unless it woke somebody: they go first now."""
        self.moves += 1
        queue = self._kernel.run_queue
        if len(queue) > spinners or spinners > 1:
            self.streak = 0
        if len(queue) > spinners:
            queue.rotate(-sum(actor.spinner is not None and actor.spinner.was_preempted for actor in queue))
