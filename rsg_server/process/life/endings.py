"""Finds out how a process has ended: waits for the kernel, reads the status, and notes what cannot be repeated.

A death is over only when the kernel is done with the process: until then no other actor has a turn.
"""

from __future__ import annotations

import select
import signal
from typing import TYPE_CHECKING, Protocol

from rsg_server.observers import Observers
from rsg_server.process import native_signal
from rsg_server.process.life import zombies
from rsg_server.process.process import Process

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from rsg_server.event_log import EventLog
    from rsg_server.process.host_state import Launcher
    from rsg_server.shared.clock import Clock
    from rsg_server.warner import Warner

DEATH_TIMEOUT_MS = 10_000
"""How long, in real time, a process that is certain to die may take before it is killed."""


class Disturbances(Protocol):
    """Records why the run cannot be repeated to the byte (rsg_server.diagnosis.disturbances)."""

    def note(self, reason: str) -> None:
        """Note why the run cannot be repeated to the byte."""

    def look_at_death(self, process: Process, moment_ns: int, in_turn: bool) -> None:
        """Note the death of a process that has not announced its end, if its killer is not known."""

    def look_at_stillbirth(self, process: Process, status: int) -> None:
        """Note the death by a signal of a started process before its first message; `status` is as wait(2) returns it."""


class Endings:
    """Finds out how processes have ended; `off` are the hosts without power."""

    def __init__(
        self, clock: Clock, log: EventLog, launcher: Launcher, off: AbstractSet[str], disturbances: Disturbances, warner: Warner
    ) -> None:
        self._clock, self._log, self._launcher, self._off = clock, log, launcher, off
        self._disturbances, self._warner = disturbances, warner
        self.on_death: Observers[Process] = Observers()  # told of a dead process that the kernel still knows
        self.on_gone: Observers[Process, int] = Observers()  # told of a process that is gone, and of the moment

    def look_for_killer(self, process: Process, in_turn: bool) -> None:
        """Note the death of a process without announcement if no emulated process killed it; `in_turn`: it had the turn."""
        self._disturbances.look_at_death(process, self._clock.now_ns, in_turn)

    def await_end(self, process: Process) -> None:
        """Wait until the kernel has ended a process that is certain to die. If that takes too long, the process is killed."""
        if process.pidfd >= 0:
            poller = select.poll()
            poller.register(process.pidfd, select.POLLIN)
            if not poller.poll(DEATH_TIMEOUT_MS):
                self._warner.warn(f"{process!r} was to die and has not; it is killed")
                native_signal.send(process.pidfd, signal.SIGKILL)
                poller.poll(DEATH_TIMEOUT_MS)

    def learn(self, process: Process) -> None:
        """Find out how a dead process has ended, and wait until the kernel has reaped it or its parent has to."""
        self.on_death.tell(process)
        name = process.host.name
        if process.started and process.pid:
            process.exit_status = self._launcher.wait_status(name, process.pid)
            if process.exit_status < 0:
                self._disturbances.note(f"the first process of host {name} has died")
            elif process.pidfd < 0 and name not in self._off:
                self._disturbances.look_at_stillbirth(process, process.exit_status)
        if process.is_traced and (reason := self._launcher.why_killed(name, process.pid)):
            self._warner.warn(f"{process!r} was killed at an exec that could not be intercepted: {reason}")
        zombies.reap(self._warner, process)
        self.on_gone.tell(process, self._clock.now_ns)

    def log(self, process: Process) -> None:
        """Write the end of a process into the event log."""
        if process.pid:
            self._log.event(
                self._clock.now_ns,
                "process_exit",
                host=process.host.name,
                number=process.number,
                pid=process.pid,
                program=process.program,
                status=process.exit_status,
                born=process.born_ns,
            )
