"""The service: trio is in charge of start, end, Ctrl-C, joined programs and progress; the turn loop runs in slices between."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import trio

from rsg_server.clock.clock_page import FOREVER_NS
from rsg_server.diagnosis.stalls import deadlock_report, stall_report, waits_for_files
from rsg_server.edge.gc_tuning import collected_seldom
from rsg_server.errors import LACKS, MORE_FILES, DeadlockError, ServerError, mend_of
from rsg_server.process.external_signals import LOOK_S, ExternalSignals
from rsg_server.turn.loop import Outcome, TurnLoop

if TYPE_CHECKING:
    from rsg_server.diagnosis.debugger import Debugger
    from rsg_server.edge.deployment import Deployment
    from rsg_server.handlers.table import Reply
    from rsg_server.kernel import Kernel

SLICE_S = 0.02
STALL_WARNING_S = 10.0
PACE_SLICE_S = 0.01
DEBUGGER_SLICE_S = 0.05
LISTEN_S = 0.02
"""How long the service waits for a message of a computing actor: meanwhile the turn may have gone on to another actor."""


@dataclass(slots=True)
class ServiceOptions:
    """`pace` bounds virtual seconds per wall second (None: unbounded); `until_ns` ends the run at a moment."""

    pace: float | None = None
    until_ns: int | None = None
    keep_alive: bool = False
    preempt_after_s: float | None = None  # CPU seconds that a turn may compute without a call; None: no bound
    external_files: set[tuple[int, int]] = field(default_factory=set)  # (device, inode) of files written from outside


@dataclass(slots=True)
class Service:
    """Runs a kernel until its work is done; `finished` says when (default: no process is left).

    `at_limit` is called at `until_ns`, with the reason that `end` is to be told; by default that is `end` itself.
    A run with a `deployment` gives no turn before that is started.
    """

    kernel: Kernel
    options: ServiceOptions
    finished: Callable[[], bool] | None = None
    at_limit: Callable[[str], None] | None = None
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
    _attention: trio.Event = field(default_factory=trio.Event, init=False)
    _token: trio.lowlevel.TrioToken | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.turns = TurnLoop(self.kernel)
        self._external_signals = ExternalSignals(self.kernel)
        if self.options.preempt_after_s is not None:
            self.kernel.preemption.after_ns = int(self.options.preempt_after_s * 1e9)

    async def run(self) -> str:
        """Give turns until the end; returns why it ended. Raises DeadlockError when virtual time cannot move."""
        self._token = trio.lowlevel.current_trio_token()
        self._restart_pace()
        if self.options.until_ns is not None:
            self.kernel.timeline.add(self.options.until_ns, lambda: (self.at_limit or self.end)("time limit"))
        with collected_seldom():
            while not self.reason:
                self._set_limit()
                await self._between(self._turns())
        return self.reason

    def _turns(self) -> Outcome:
        """Give turns for a while."""
        try:
            return Outcome.LIMIT if self._is_held() else self.turns.run(SLICE_S)
        except OSError as error:  # no fault of an emulated process
            mend = MORE_FILES if error.errno in LACKS else mend_of(error, "choose another folder with --out")
            raise ServerError(f"the server failed at {self.kernel.now_ns / 1e9:.3f} s: {error}; {mend}") from error

    def _is_held(self) -> bool:
        """Whether nobody gets a turn, by the user's wish."""
        return self.paused or (self.deployment is not None and not self.deployment.has_started)

    def end(self, reason: str) -> None:
        """Stop at the next turn boundary."""
        self.reason = self.reason or reason
        self.turns.stop = True
        self.attend()

    def interrupt(self) -> None:
        """Stop at the next turn boundary; called by the handler of a signal, outside of trio."""
        self.reason = self.reason or "interrupted"
        self.turns.stop = True
        if self._token is not None:
            with contextlib.suppress(trio.RunFinishedError):  # the run has ended already, and its results are being written
                self._token.run_sync_soon(self.attend)

    def attend(self) -> None:
        """Wake the service if it waits, since something outside has happened."""
        self._attention.set()

    def pause(self, paused: bool) -> None:
        """Stop virtual time, or let it go on."""
        self.paused = paused
        self._restart_pace()
        self.attend()

    def set_pace(self, pace: float | None) -> None:
        """Bound virtual seconds per wall second from now on."""
        self.options.pace = pace
        self._restart_pace()
        self.attend()

    async def _between(self, outcome: Outcome) -> None:
        """Do, between two slices of turns, what the outcome of the last one asks for."""
        if self.finished() if self.finished is not None else self._all_gone():
            self.reason = self.reason or "done"
        if self.reason:
            return
        self._look_outside()
        if outcome is Outcome.COMPUTING:
            await self._await_holder()
        elif outcome is Outcome.IDLE:
            await self._await_outside()
        elif outcome is Outcome.LIMIT:
            await self._wait_for_attention(PACE_SLICE_S)
        else:
            await trio.lowlevel.checkpoint()

    def _look_outside(self) -> None:
        """Look for signals that were sent to processes from outside, in real time: between two turns no actor sends any."""
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

    def _set_limit(self) -> None:
        if self._is_held():
            self.turns.limit_ns = self.kernel.now_ns
        elif self.options.pace is None:
            self.turns.limit_ns = FOREVER_NS
        else:
            elapsed = time.monotonic() - self._wall_start
            self.turns.limit_ns = self._virtual_start_ns + int(elapsed * self.options.pace * 1e9)

    # Waiting for what is not virtual

    async def _wait_for_attention(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await self._attention.wait()
        self._attention = trio.Event()

    async def _await_holder(self) -> None:
        """Let trio run until the holder of the turn, which computes, sends a message; warn the user if that takes long."""
        if self.turns.holder is None:
            return
        holder = self.turns.listener.runner(self.turns.holder)
        debugger = self.kernel.debugger
        if debugger is not None and debugger.held is not None:
            await self._await_debugger(debugger)
            return
        if debugger is not None and holder.process is debugger.process and debugger.is_attached():
            await self._wait_for_attention(DEBUGGER_SLICE_S)  # the user looks at the process in a debugger: no stall
            return
        with trio.move_on_after(LISTEN_S):
            await trio.lowlevel.wait_readable(holder.channel.fileno())
        waited = time.monotonic() - self.turns.holder_since
        if waited > STALL_WARNING_S and self._stall_told != self.turns.holder_since:
            self._stall_told = self.turns.holder_since
            self.kernel.on_warning(stall_report(self.kernel, holder, waited))

    async def _await_debugger(self, debugger: Debugger[Reply]) -> None:
        """Hold a program at its start, and with it the turn, until a debugger has attached to it."""
        while not self.reason and not debugger.may_go():
            await self._wait_for_attention(DEBUGGER_SLICE_S)
        self.kernel.disturbances.note("a program was held for a debugger")
        if not self.reason:
            self.turns.release(*debugger.release())

    async def _await_outside(self) -> None:
        """Wait for input from outside, since no actor can run and nothing is due; raise DeadlockError if none can come."""
        if not self.kernel.processes:
            await self._wait_for_attention(1.0)
            return
        if not (self.options.keep_alive or self.joined or waits_for_files(self.kernel, self.options.external_files)):
            raise DeadlockError(deadlock_report(self.kernel))
        with trio.move_on_after(0.2):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._until_readable, nursery.cancel_scope)
                nursery.start_soon(self._until_attention, nursery.cancel_scope)
        self.kernel.readiness.changed()

    async def _until_readable(self, scope: trio.CancelScope) -> None:
        copy = os.dup(self.kernel.readiness.fileno())
        try:
            await trio.lowlevel.wait_readable(copy)
        finally:
            trio.lowlevel.notify_closing(copy)
            os.close(copy)
        scope.cancel()

    async def _until_attention(self, scope: trio.CancelScope) -> None:
        await self._attention.wait()
        self._attention = trio.Event()
        scope.cancel()
