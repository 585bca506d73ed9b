"""Takes the turn back from an actor that computes without a call, since it may be waiting for another actor to do something.

One actor runs at a time, so a loop that waits for a word of shared memory to change would wait for ever. The server
cannot tell such a loop, which is said to spin, from a long computation, which had better not be interrupted. So an
actor may run for a while before it is preempted, that is, before the turn is taken from it; then other actors that can
run go first. Computing takes no virtual time, but waiting does. Once all actors that can run have been preempted
several times, and none has made a call in between, the server assumes that all of them wait for a later event. Virtual
time then moves on to the next event.

An actor that makes a call after that was spinning and will spin again: it is preempted sooner from then on. It makes no
difference how long a spinner looks, so turns in which a spinner only goes on looking leave no trace in the event log.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from rsg_server.diagnosis.stalls import process_text
from rsg_server.process import native_signal
from rsg_server.process.actor import Actor, Spinner
from rsg_server.turn.computing import Computing

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.process.cpu_timers import CpuTimers
    from rsg_server.process.run_queue import RunQueue
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.turn.listener import Listener
    from rsg_server.warner import Warner

SHORTEST_NS = 1_000_000
"""The CPU time (ns) that a known spinner may compute without a call: enough to read a word thousands of times."""
ROUNDS, KNOWN_ROUNDS = 5, 4
"""How many patiences (units of `patience_ns`) an actor must spin before time moves on: one that may compute; one known
to spin.
"""
ROUNDS_TOGETHER = 100
"""How many patiences each of several actors that can run must have spun: they may be passing work to and fro in shared
memory.
"""
LOOKS = 10
"""For how many patiences in a row the server watches a known spinner, before the turn loop returns."""
ANSWER_S = 2.0
"""How long (real seconds) the server waits for an actor to give the turn back."""
STALL_S = 10.0
"""After how many real seconds without a call of any actor the user is warned that the run stalls."""


class Preemption:
    """Decides when the turn is taken back: after `after_ns` of CPU time without a call, or never if `after_ns` is None."""

    def __init__(
        self,
        shared: SharedMemory,
        timeline: Timeline,
        run_queue: RunQueue,
        cpu_timers: CpuTimers,
        warner: Warner,
        has_debugger: bool,
    ) -> None:
        self._shared, self._timeline, self._run_queue = shared, timeline, run_queue
        self._cpu_timers, self._warner, self._has_debugger = cpu_timers, warner, has_debugger
        self.after_ns: int | None = None
        self.count = 0  # how often the turn was taken back
        self.moves = 0  # how often the clock moved on although an actor could run
        self.streak = 0  # how often in a row the turn was taken back, without a call of any actor in between
        self.computing = Computing(shared, warner)
        self._streak_ns = 0  # the CPU time (ns) that these turns have taken, at least
        self._calls = -1
        self._since = 0.0
        self._watched: tuple[int, int] = (0, 0)
        self._watched_cpu_ns = 0

    def forget_streak(self) -> None:
        """Begin to count anew how often the turn was taken back in a row, since a spinner may wait for what a signal's
        handler does.
        """
        self.streak = 0

    def interrupt(self, actor: Actor, listener: Listener) -> bytes | None:
        """Take the turn back from an actor that makes no calls, if its patience is used up.

        Return the holder's next message; None if the actor sends none.
        """
        if self.after_ns is None or actor.owes_message or self._has_debugger:
            return None
        self.computing.look(listener.runner(actor), self.after_ns)
        is_charged = self._cpu_timers.due_ns(listener.runner(actor)) is not None
        handed_on = self._shared.turn.was_handed_on
        if not is_charged and not handed_on and not self._others_may_run() and self._timeline.next_ns is None:
            return None  # no other actor waits for this turn to end
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
        """Demand the turn back from the actor that has it, from the server or from another thread. Return its next message.

        If the actor has sent a message just before the demand, that message is returned, and counts as a call. On a
        loaded computer the answer may be late.
        """
        self._shared.turn.demand_back()
        native_signal.preempt(runner.process.global_pid, self._global_tid(runner))
        end = time.monotonic() + ANSWER_S
        message = listener.receive_now(actor)
        while message is None and time.monotonic() < end:
            message = listener.receive_now(actor)
        self._shared.turn.demand_no_more()
        return message

    def _is_time(self, actor: Actor) -> bool:
        """Return whether an actor has used up its patience since any actor last made a call."""
        calls, cpu_ns = self._shared.counters.calls, native_signal.process_cpu_ns(actor.process.global_pid)
        spinner, charge_due_ns = actor.spinner, self._cpu_timers.due_ns(actor)
        if charge_due_ns is not None:
            if self._watched != (actor.number, calls):
                self._watched, self._watched_cpu_ns = (actor.number, calls), cpu_ns
            return cpu_ns - self._watched_cpu_ns >= max(charge_due_ns, 0)
        if spinner is None:
            if self._watched != (actor.number, calls):
                self._watched, self._watched_cpu_ns = (actor.number, calls), cpu_ns
            return cpu_ns - self._watched_cpu_ns >= (self.after_ns or 0) * self._turns_at_once(ROUNDS)
        if spinner.calls != calls:
            self._went_on(actor, spinner)
            spinner.calls, spinner.cpu_ns = calls, cpu_ns
        enough_ns = spinner.patience_ns * self._turns_at_once(self._rounds(spinner))
        return cpu_ns - spinner.cpu_ns >= min(enough_ns, self._until_due_ns())

    def _others_may_run(self) -> bool:
        """Return whether another actor can run, or may have become able to run during this turn."""
        turn = self._shared.turn
        return bool(self._run_queue) or turn.may_have_woken or turn.siblings_are_ready

    def _until_due_ns(self) -> float:
        """Return how long (ns) an actor that was preempted before may go on: half of the time until the next event.

        The other half of that time is for what other actors compute at the event, so that a run with a spinner is not
        slower than real time. There is no such limit if other actors can run, which then go first, or if no event is
        due.
        """
        return math.inf if self._others_may_run() else self._half_until_due_ns()

    def _half_until_due_ns(self) -> float:
        due_ns = self._timeline.next_ns
        return math.inf if due_ns is None else max((due_ns - self._shared.clock.now_ns) // 2, SHORTEST_NS)

    def _turns_at_once(self, rounds: int) -> int:
        """Return how many patiences pass before a preemption: all `rounds` at once if no other actor can run, else 1."""
        return 1 if self._others_may_run() else rounds

    @staticmethod
    def _global_tid(actor: Actor) -> int:
        if actor.spinner is not None:
            return actor.spinner.global_tid
        return native_signal.global_tid(actor.process.global_pid, actor.tid, actor.process.host.level)

    def gave_back(self, actor: Actor) -> None:
        """Handle that an actor has given the turn back at the server's demand: add it to the end of the run queue."""
        if actor.spinner is None:
            actor.spinner = Spinner(self._global_tid(actor), self.after_ns or SHORTEST_NS)
        actor.spinner.was_preempted = True
        self.computing.gave_back(actor)
        self._look_sooner(actor.spinner)
        if self.count == 0:
            self._warner.on_warning.tell(
                f"{actor!r} computes without a call: preempted, so this run is not deterministic (preempt_after)"
            )
        self.count += 1
        calls, turns = self._shared.counters.calls, self._turns_at_once(self._rounds(actor.spinner))
        spun_ns = native_signal.process_cpu_ns(actor.process.global_pid) - actor.spinner.cpu_ns if actor.spinner.cpu_ns else 0
        spun_ns = max(spun_ns, actor.spinner.patience_ns)
        if self.streak and calls == self._calls:
            self.streak += turns
            self._streak_ns += spun_ns
            self._tell_stall(actor)
        else:
            self.streak, self._streak_ns, self._since = turns, spun_ns, time.monotonic()
        self._calls = calls

    def _tell_stall(self, actor: Actor) -> None:
        """Warn the user, once, if preempted actors only give the turn to each other, and no event is due that could end
        this.
        """
        waited = time.monotonic() - self._since
        if waited > STALL_S and self._timeline.next_ns is None:
            self._since = float("inf")  # the warning is given once
            others = len(self._run_queue)
            self._warner.on_warning.tell(
                f"no thread has made a call for {waited:.0f} s of wall time, and nothing is due: "
                f"{process_text(actor.process)} thread {actor.tid} computes on, as do {others} others"
            )

    def begins(self, actor: Actor, spinner: Spinner) -> bool:
        """Begin a turn of an actor that was preempted before.

        Return whether this turn only continues the turn that was taken back.
        """
        spinner.calls, spinner.cpu_ns = (
            self._shared.counters.calls,
            native_signal.process_cpu_ns(actor.process.global_pid),
        )
        self.computing.begins(actor)
        if not spinner.was_preempted:
            self._went_on(actor, spinner)
        spinner.goes_on, spinner.was_preempted = spinner.was_preempted, False
        return spinner.goes_on

    @staticmethod
    def _went_on(actor: Actor, spinner: Spinner) -> None:
        """Note that an actor was spinning, not computing, because it made a call as soon as others had run."""
        if spinner.goes_on:
            spinner.is_known, spinner.goes_on = True, False

    @staticmethod
    def _look_sooner(spinner: Spinner) -> None:
        """Halve the time after which an actor is preempted, down to SHORTEST_NS, because its loop has kept others waiting."""
        if spinner.patience_ns > SHORTEST_NS:
            spinner.patience_ns = max(spinner.patience_ns // 2, SHORTEST_NS)

    def _rounds(self, spinner: Spinner) -> int:
        """Return how often an actor must be preempted before time moves on: less often if the actor is known to spin."""
        return KNOWN_ROUNDS if spinner.is_known else ROUNDS * (self.after_ns or 0) // spinner.patience_ns

    def all_spin(self) -> bool:
        """Return whether all actors that can run have spun for so long that the server takes them to wait for a later event."""
        needed, together = 0, len(self._run_queue) > 1
        for actor in self._run_queue:
            if actor.spinner is None or not actor.spinner.was_preempted:
                return False
            needed += max(self._rounds(actor.spinner), ROUNDS_TOGETHER) if together else self._rounds(actor.spinner)
        if together and self._streak_ns >= self._half_until_due_ns():
            needed = min(needed, ROUNDS * len(self._run_queue))
        return 0 < needed <= self.streak and self._shared.counters.calls == self._calls

    def time_moves(self, spinners: int) -> None:
        """Handle that an event has happened while spinners could run: the actors that the event has woken go first."""
        self.moves += 1
        queue = self._run_queue
        if len(queue) > spinners or spinners > 1:
            self.streak = 0
        if len(queue) > spinners:
            queue.put_behind(sum(actor.spinner is not None and actor.spinner.was_preempted for actor in queue))
