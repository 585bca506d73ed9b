"""Takes the turn back from who computes on without a call: it may spin until another actor has done something.

One actor runs at a time, so a loop that waits for a word of shared memory to change would wait for ever. Nobody can tell such a
loop from a long computation, which had better be left alone: it is let run for a while before anything happens. Then the others
that can run go first. Computing takes no virtual time, but waiting does: once all that can run have been preempted several times
over, and nobody has made a call in between, they wait for something that is not there yet, and time moves on to what is due.

Who goes on by itself after that was spinning, and will again: it is suspected sooner from then on. A spinner that only looks
finds the same however long it was let look, so its turns leave no trace in the event log.
"""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rsg_server import native_signal
from rsg_server.clock_page import PREEMPT
from rsg_server.protocol import MESSAGE_MAX
from rsg_server.report import stall_report

if TYPE_CHECKING:
    from rsg_server.actor import Actor
    from rsg_server.kernel import Kernel

SHORTEST_NS = 4_000_000
"""CPU time that a known spinner may compute without a call: thousands of looks, and little to wait for."""
ROUNDS, KNOWN_ROUNDS = 5, 2
"""How often each that can run must have been preempted before time moves on: a stranger, a known spinner."""
LOOKS = 10
"""How many of its patiences a known spinner is looked at in a row, before the server turns to other things."""
STALL_S = 10.0
_TIMEVAL = struct.Struct("=qq")


@dataclass(slots=True)
class Spinner:
    """What is known of an actor that has been preempted."""

    global_tid: int
    patience_ns: int
    rounds: int = ROUNDS
    was_preempted: bool = False  # its last turn ended so
    goes_on: bool = False  # its last turn began after it had been preempted
    calls: int = 0
    cpu_ns: int = 0


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

    def interrupt(self, actor: Actor) -> bytes | None:
        """The holder of the turn is silent: take the turn back if it is time. What it says then, None if it is silent still."""
        kernel = self._kernel
        if self.after_ns is None or actor.owes_message or kernel.debugger is not None:
            return None
        if not kernel.run_queue and kernel.timeline.next_ns is None:
            return None  # nobody waits for its turn to end
        for _ in range(1 if actor.spinner is None else LOOKS):
            if self._is_time(actor):
                kernel.page.words[PREEMPT] = 1
                native_signal.preempt(actor.process.global_pid, self._global_tid(actor))
            elif actor.spinner is None:
                return None
            try:
                return actor.channel.recv(MESSAGE_MAX)
            except BlockingIOError:
                continue
            except ConnectionResetError:
                return b""
            finally:
                kernel.page.words[PREEMPT] = 0
        return None

    def _is_time(self, actor: Actor) -> bool:
        """Has it used up its patience since it (or anybody) last made a call?"""
        calls, cpu_ns = self._kernel.page.calls(), native_signal.process_cpu_ns(actor.process.global_pid)
        spinner = actor.spinner
        if spinner is None:
            if self._watched != (actor.number, calls):
                self._watched, self._watched_cpu_ns = (actor.number, calls), cpu_ns
            return self.after_ns is not None and cpu_ns - self._watched_cpu_ns >= self.after_ns
        if spinner.calls != calls:
            spinner.calls, spinner.cpu_ns = calls, cpu_ns
        return cpu_ns - spinner.cpu_ns >= spinner.patience_ns

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
        if self.count == 0:
            self._kernel.on_warning(
                f"{actor!r} computes without a call: preempted, so this run is not sure to repeat to the byte (preempt_after)"
            )
        self.count += 1
        calls = self._kernel.page.calls()
        if self.streak and calls == self._calls:
            self.streak += 1
            self._tell_stall(actor)
        else:
            self.streak, self._since = 1, time.monotonic()
        self._calls = calls

    def _tell_stall(self, actor: Actor) -> None:
        waited = time.monotonic() - self._since
        if waited > STALL_S and self._kernel.timeline.next_ns is None:
            self._since = float("inf")  # once
            self._kernel.on_warning(stall_report(self._kernel, actor, waited))

    def begins(self, actor: Actor, spinner: Spinner) -> bool:
        """A turn of an actor that has been preempted before; whether it only goes on with the last one."""
        spinner.calls, spinner.cpu_ns = self._kernel.page.calls(), native_signal.process_cpu_ns(actor.process.global_pid)
        if spinner.goes_on and not spinner.was_preempted:
            self._suspect_sooner(actor, spinner)
        spinner.goes_on, spinner.was_preempted = spinner.was_preempted, False
        return spinner.goes_on

    @staticmethod
    def _suspect_sooner(actor: Actor, spinner: Spinner) -> None:
        """It went on by itself once others had run: it was spinning, not computing."""
        spinner.rounds = KNOWN_ROUNDS
        if spinner.patience_ns > SHORTEST_NS:
            spinner.patience_ns = max(spinner.patience_ns // 4, SHORTEST_NS)
            patience = _TIMEVAL.pack(0, spinner.patience_ns // 1000)
            actor.channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)

    def all_spin(self) -> bool:
        """Whether all that can run do nothing but wait, as far as anybody can tell."""
        needed = 0
        for actor in self._kernel.run_queue:
            if actor.spinner is None or not actor.spinner.was_preempted:
                return False
            needed += actor.spinner.rounds
        return 0 < needed <= self.streak and self._kernel.page.calls() == self._calls

    def time_moves(self, spinners: int) -> None:
        """Something was due, of which spinners cannot know, unless it woke somebody: they go first now."""
        self.moves += 1
        queue = self._kernel.run_queue
        if len(queue) > spinners:
            self.streak = 0
            queue.rotate(-sum(actor.spinner is not None and actor.spinner.was_preempted for actor in queue))
