"""Finds out how a process has ended: waits for the kernel, reads the status, and records a death that cannot be repeated.

No actor has a turn until the kernel has ended the process completely.
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
"""After so many real milliseconds, a process that is certain to die and has not died is killed."""


class Disturbances(Protocol):
    """Records why the run cannot be repeated to the byte (rsg_server.diagnosis.disturbances)."""

    def note(self, reason: str) -> None:
        """Record a reason why the run cannot be repeated to the byte."""

    def look_at_death(self, process: Process, moment_ns: int, in_turn: bool) -> None:
        """Record the death of a process that has not announced its end, if nobody in the emulation has killed it."""

    def look_at_stillbirth(self, process: Process, status: int) -> None:
        """Record that a started process has died of a signal before its first message. `status` is as wait(2) returns it."""


class Endings:
    """Finds out how processes have ended. `off` are the hosts without power."""

    def __init__(
        self, clock: Clock, log: EventLog, launcher: Launcher, off: AbstractSet[str], disturbances: Disturbances, warner: Warner
    ) -> None:
        self._clock, self._log, self._launcher, self._off = clock, log, launcher, off
        self._disturbances, self._warner = disturbances, warner
        # observers get a dead process, while the kernel still has its entry in /proc
        self.on_death: Observers[Process] = Observers()
        # observers get a process that the kernel has removed, and the moment of virtual time
        self.on_gone: Observers[Process, int] = Observers()

    def look_for_killer(self, process: Process, in_turn: bool) -> None:
        """Record the death of a process that has not announced its end, if no emulated process has killed it.

        `in_turn` says that the process had the turn when it died.
        """
        self._disturbances.look_at_death(process, self._clock.now_ns, in_turn)

    def await_end(self, process: Process) -> None:
        """Wait until the kernel has ended a process that is certain to die. After DEATH_TIMEOUT_MS the process is killed."""
        if process.pidfd >= 0:
            poller = select.poll()
            poller.register(process.pidfd, select.POLLIN)
            if not poller.poll(DEATH_TIMEOUT_MS):
                self._warner.warn(f"{process!r} was to die and has not; it is killed")
                native_signal.send(process.pidfd, signal.SIGKILL)
                poller.poll(DEATH_TIMEOUT_MS)

    def learn(self, process: Process) -> None:
        """Find out how a dead process has ended; wait until the kernel has removed it, or until only its parent has to
        wait(2) for it.
        """
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
