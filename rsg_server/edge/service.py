"""The service runs a kernel: trio handles start, end, Ctrl-C, joined programs and progress; between these, the turn
loop gives turns.

A run that nobody can join may have a head start without trio: importing trio takes a third of the processor time of a small
command's whole run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rsg_server.diagnosis.descriptors import Descriptors
from rsg_server.diagnosis.stalls import actor_lines, deadlock_report, stall_report, waits_for_files
from rsg_server.edge.gc_tuning import collected_seldom
from rsg_server.errors import LACKS, MORE_FILES, DeadlockError, ServerError, SimunixError, mend_of
from rsg_server.process.external_signals import LOOK_S, ExternalSignals
from rsg_server.shared.clock import FOREVER_NS
from rsg_server.turn.loop import Outcome, TurnLoop
from rsg_server.wiring import external_signals_of, turns_of

if TYPE_CHECKING:
    from rsg_server.diagnosis.debugger import Debugger
    from rsg_server.edge.deployment import Deployment
    from rsg_server.edge.outside import Outside
    from rsg_server.handlers.table import Reply
    from rsg_server.kernel import Kernel
    from rsg_server.process.actor import Actor

SLICE_S = 0.02
STALL_WARNING_S = 10.0
PACE_SLICE_S = 0.01
DEBUGGER_SLICE_S = 0.05
OUTSIDE_S, KEYS_S = 0.2, 0.02
"""How long, in real time, an idle run waits between looks for input from outside; the second while a user types at a
terminal."""
GRACE_S = 30.0
"""How long, in real time, a run that its user ends may go on, for questions that its programs still have to answer."""
HEAD_START_S = 0.2
"""How long, in real time, a run that nobody can join may go on without its control socket, and without trio."""


@dataclass(slots=True)
class ServiceOptions:
    """Limits of a run: `pace` bounds virtual seconds per wall second (None: unbounded), `until_ns` is the moment of its end.

    At `pause_at_ns` the run is paused, once all that is due by then has happened.
    """

    pace: float | None = None
    until_ns: int | None = None
    pause_at_ns: int | None = None
    keep_alive: bool = False
    preempt_after_s: float | None = None  # CPU seconds that a turn may compute without a call; None: no bound
    external_files: set[tuple[int, int]] = field(default_factory=set)  # (device, inode) of files written from outside


@dataclass(slots=True)
class Service:
    """Runs a kernel until its work is done: until `finished` returns True, by default when no process is left.

    `at_pause` is called when the run has come to the moment `pause_at_ns` of its options, and is paused. `at_limit` is
    called at `until_ns`, with the reason for `end`; the default is `end` itself. `at_wish` is called, once and between two
    turns, with the reason for which the user ends the run. The run then goes on, as fast as it can and for GRACE_S at most,
    until `end` is called. By default the run ends at the next turn. `at_rest` returns whether a run is done, and no
    deadlock, when all remaining actors wait for ever. A run with a `deployment` gives no turn before the deployment is
    started.
    """

    kernel: Kernel
    options: ServiceOptions
    finished: Callable[[], bool] | None = None
    at_limit: Callable[[str], None] | None = None
    at_pause: Callable[[], None] = lambda: None
    at_wish: Callable[[str], None] | None = None
    at_rest: Callable[[], bool] = lambda: False
    paused: bool = False
    deployment: Deployment | None = None
    reason: str = ""
    joined: int = 0
    turns: TurnLoop = field(init=False)
    _external_signals: ExternalSignals = field(init=False)
    _next_look: float = field(default=0.0, init=False)
    _wall_start: float = field(default=0.0, init=False)
    _virtual_start_ns: int = field(default=0, init=False)
    _stall_told: float = field(default=0.0, init=False)
    _hold_at_ns: int | None = field(default=None, init=False)  # the moment at which the clock is to stop
    _is_step: bool = field(default=False, init=False)  # after that moment, the clock is to go on to the next event
    _wish: str = field(default="", init=False)
    _grace_ends: float | None = field(default=None, init=False)
    _has_begun: bool = field(default=False, init=False)
    _outside: Outside | None = field(default=None, init=False)  # made when trio runs

    def __post_init__(self) -> None:
        self.turns = turns_of(self.kernel)
        self._external_signals = external_signals_of(self.kernel)
        if self.options.preempt_after_s is not None:
            self.kernel.preemption.after_ns = int(self.options.preempt_after_s * 1e9)

    async def run(self) -> str:
        """Give turns until the end; returns why it ended. Raises DeadlockError when virtual time cannot move."""
        from rsg_server.edge.outside import Outside  # brings trio

        self._outside = outside = Outside()
        self._begin()
        with collected_seldom():
            while not self.reason:
                if self.is_ending:
                    self._wind_up()
                self._set_limit()
                await self._between(self._turns(), outside)
        return self.reason

    def head_start(self) -> bool:
        """Give turns without trio as long as trio is not needed, for HEAD_START_S at most; True if the run has ended."""
        self._begin()
        ends_at = time.monotonic() + HEAD_START_S
        with collected_seldom():
            while not self.is_ending and time.monotonic() < ends_at:
                self._set_limit()
                outcome = self._turns()
                self._end_if_done()
                self._look_outside()
                if outcome in (Outcome.IDLE, Outcome.LIMIT):
                    break
        return bool(self.reason)

    def _begin(self) -> None:
        """Prepare the run, once, before the first turn."""
        if self._has_begun:
            return
        self._has_begun = True
        self._restart_pace()
        self._hold_at_ns = self.options.pause_at_ns
        if self.options.until_ns is not None:
            self.kernel.timeline.add(self.options.until_ns, lambda: (self.at_limit or self.end)("time limit"))

    def _turns(self) -> Outcome:
        """Give turns for one slice of real time."""
        try:
            return Outcome.LIMIT if self._is_held() else self.turns.run(SLICE_S)
        except OSError as error:  # the cause is not an emulated process
            mend = MORE_FILES if error.errno in LACKS else mend_of(error, "choose another folder with --out")
            raise ServerError(f"the server failed at {self.kernel.now_ns / 1e9:.3f} s: {error}; {mend}") from error

    def _is_held(self) -> bool:
        """Whether no actor gets a turn because of the user: the run is paused, or its deployment has not started."""
        return self.paused or (self.deployment is not None and not self.deployment.has_started)

    def end(self, reason: str) -> None:
        """End the run when the present turn has ended; `reason` says why."""
        self.reason = self.reason or reason
        self.turns.stop = True
        self.attend()

    @property
    def is_ending(self) -> bool:
        """Whether the run has ended, or its user has asked for its end."""
        return bool(self.reason or self._wish)

    def interrupt(self) -> None:
        """End the run because of a signal from the user. The handler of the signal calls this outside of trio."""
        self.wish_end("interrupted")

    def wish_end(self, reason: str) -> None:
        """End the run after the present turn, as its user wishes; first `at_wish` may let programs answer what is still
        to be asked.
        """
        if self.at_wish is None:
            self.reason = self.reason or reason
        self._wish = self._wish or reason
        self.turns.stop = True
        if self._outside is not None:
            self._outside.attend_soon()

    def _wind_up(self) -> None:
        """Call `at_wish`, or end the run when the time for that is over."""
        if self._grace_ends is None:
            self._grace_ends = time.monotonic() + GRACE_S
            self.turns.stop, self.paused, self.options.pace = False, False, None
            if self.at_wish is not None:
                self.at_wish(self._wish)
        elif time.monotonic() >= self._grace_ends:
            self.reason = self.reason or self._wish

    def attend(self) -> None:
        """Wake the service if it waits, since something outside of the emulation has happened."""
        if self._outside is not None:
            self._outside.attend()

    def pause(self, paused: bool) -> None:
        """Pause the run, or let it go on."""
        self.paused = paused
        if paused and self._outside is not None:
            self._outside.tell_pause()
        self._restart_pace()
        self.attend()

    async def go_until(self, at_ns: int) -> None:
        """Let virtual time go on until a moment, with all events that are due by then; return when the run is paused at
        that moment.

        Raises SimunixError if the moment is past.
        """
        if at_ns < self.kernel.now_ns:
            raise SimunixError(f"until: it is {self.kernel.now_ns / 1e9:.6f} s already; name a later moment")
        await self._hold_at(at_ns, is_step=False)

    async def step(self) -> None:
        """Let all events happen that are due now and at the next moment with an event; return when the run is paused there."""
        await self._hold_at(self.kernel.now_ns, is_step=True)

    async def _hold_at(self, at_ns: int, is_step: bool) -> None:
        self._hold_at_ns, self._is_step = at_ns, is_step
        self.pause(False)
        if self._outside is not None:
            await self._outside.until_pause()

    def set_pace(self, pace: float | None) -> None:
        """Set the upper limit of virtual seconds per wall second from now on."""
        self.options.pace = pace
        self._restart_pace()
        self.attend()

    def _end_if_done(self) -> None:
        if self.finished() if self.finished is not None else self._all_gone():
            self.reason = self.reason or "done"

    async def _between(self, outcome: Outcome, outside: Outside) -> None:
        """Do, between two slices of turns, what the outcome of the last slice requires."""
        self._end_if_done()
        if self.reason:
            return
        self._look_outside()
        # keys that a person types at a terminal, and the signals that the kernel sends for them, come at any moment
        if self.joined:
            self.kernel.readiness.changed()
        if outcome is Outcome.COMPUTING:
            await self._await_holder(outside)
        elif outcome is Outcome.IDLE:
            await self._await_outside(outside)
        elif outcome is Outcome.LIMIT and self._is_to_be_held():
            self._come_to_hold()
        elif outcome is Outcome.LIMIT:
            await outside.attention(PACE_SLICE_S)
        else:
            await outside.checkpoint()

    def _look_outside(self) -> None:
        """Look, in real time, for signals to processes from outside of the emulation: between two turns no actor sends any."""
        now = time.monotonic()
        if self.turns.holder is None and now >= self._next_look:
            self._next_look = now + LOOK_S
            if self._external_signals.look():
                self.kernel.disturbances.note("a process was sent a signal from outside the emulation")

    def _all_gone(self) -> bool:
        return not self.kernel.processes and not self.options.keep_alive

    # Pace

    def _restart_pace(self) -> None:
        self._wall_start = time.monotonic()
        self._virtual_start_ns = self.kernel.now_ns

    def _is_to_be_held(self) -> bool:
        return not self._is_held() and self._hold_at_ns is not None and self.kernel.now_ns >= self._hold_at_ns

    def _come_to_hold(self) -> None:
        """Pause the run at the moment for which a pause was asked; for a step, first go on to the next moment with an event."""
        due = self.kernel.timeline.next_ns if self._is_step else None
        self._is_step = False
        if due is not None:
            self._hold_at_ns = due
            return
        is_asked_for_at_start = self._hold_at_ns == self.options.pause_at_ns
        self._hold_at_ns = None
        self.pause(True)
        if is_asked_for_at_start:
            self.at_pause()

    def _set_limit(self) -> None:
        if self._is_held():
            self.turns.limit_ns = self.kernel.now_ns
        elif self.options.pace is None:
            self.turns.limit_ns = FOREVER_NS
        else:
            elapsed = time.monotonic() - self._wall_start
            self.turns.limit_ns = self._virtual_start_ns + int(elapsed * self.options.pace * 1e9)
        if self._hold_at_ns is not None:
            self.turns.limit_ns = min(self.turns.limit_ns, self._hold_at_ns)

    # Waiting for what is not virtual

    async def _await_holder(self, outside: Outside) -> None:
        """Let trio run while the holder of the turn computes; warn the user if that takes long.

        The turn loop goes on listening at the doorbell, which is no descriptor that trio could watch.
        """
        if self.turns.holder is None:
            return
        holder = self.turns.listener.runner(self.turns.holder)
        debugger = self.kernel.debugger
        if debugger is not None and debugger.held is not None:
            await self._await_debugger(debugger, outside)
            return
        if debugger is not None and holder.process is debugger.process and debugger.is_attached():
            await outside.attention(DEBUGGER_SLICE_S)  # the user looks at the process in a debugger: no stall
            return
        await outside.checkpoint()
        waited = time.monotonic() - self.turns.holder_since
        if waited > STALL_WARNING_S and self._stall_told != self.turns.holder_since:
            self._stall_told = self.turns.holder_since
            self.kernel.warner.on_warning.tell(self.stall_report(holder, waited))

    def stall_report(self, runner: Actor, waited_s: float) -> str:
        """Write the report about an actor that has not given the turn back for so many seconds of real time."""
        return stall_report(self.kernel.now_ns, self.kernel.cpu_timers, self._descriptors(), runner, waited_s)

    def actor_lines(self) -> list[str]:
        """Return a line for each actor, with what it does or waits for, in the order of birth."""
        return actor_lines(self.kernel.actors, self._descriptors())

    def _descriptors(self) -> Descriptors:
        return Descriptors(self.kernel.processes, self.kernel.sockets)

    async def _await_debugger(self, debugger: Debugger[Reply], outside: Outside) -> None:
        """Hold a program, which has the turn, at its start until a debugger has attached to the program."""
        while not self.reason and not debugger.may_go():
            await outside.attention(DEBUGGER_SLICE_S)
        self.kernel.disturbances.note("a program was held for a debugger")
        if not self.reason:
            self.turns.release(*debugger.release())

    async def _await_outside(self, outside: Outside) -> None:
        """Wait for input from outside, since no actor can run and nothing is due. Raises DeadlockError if no input can come."""
        if not self.kernel.processes:
            await outside.attention(1.0)
            return
        if not (self.options.keep_alive or self.joined or waits_for_files(self.kernel.actors, self.options.external_files)):
            if not self.at_rest():
                raise DeadlockError(deadlock_report(self.kernel.now_ns, self.kernel.actors, self._descriptors()))
            self.reason = self.reason or "done"
            return
        if self._hold_at_ns is not None:  # the timeline has no event before that moment
            self.kernel.clock.advance_to(max(self._hold_at_ns, self.kernel.now_ns))
            self._come_to_hold()
            return
        await outside.readable_or_attention(self.kernel.readiness.fileno(), KEYS_S if self.joined else OUTSIDE_S)
        self.kernel.readiness.changed()
