"""Gives cgroups what they control (processors, storages, processes), and tells the observers of control files which
file has changed.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from rsg_server.observers import Observers
from rsg_server.process import native_signal

if TYPE_CHECKING:
    from collections.abc import Callable

    from rsg_server.cgroups.group import Group
    from rsg_server.event_log import EventLog
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu import Cpu
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals
    from rsg_server.shared.clock import Clock
    from rsg_server.shared.notices import Notices
    from rsg_server.storage.storages import Storages


class Killer:
    """Kills the processes of a cgroup."""

    def __init__(self, clock: Clock, log: EventLog, deaths: Deaths) -> None:
        self._clock, self._log, self._deaths = clock, log, deaths

    def kill(self, doomed: list[Process]) -> None:
        """Send SIGKILL to processes, in the given order, and wait until all of them are dead."""
        for process in doomed:
            process.told |= 1 << (signal.SIGKILL - 1)
            native_signal.send(process.pidfd, signal.SIGKILL)
            self._log.event(self._clock.now_ns, "signal", host=process.host.name, sender=0, pid=process.pid, tid=0, signal=9)
        self._deaths.await_deaths(doomed)


class Controlled:
    """The processors, storages and processes of all hosts, which the controllers of cgroups limit, freeze and kill."""

    def __init__(
        self,
        cpu: Cpu,
        storages: Storages,
        signals: Signals,
        killer: Killer,
        wake: Callable[[Actor, int], bool],
        notices: Notices,
    ) -> None:
        self.cpu, self.storages, self.signals, self.killer, self.notices = cpu, storages, signals, killer, notices
        self.wake = wake  # a function that ends the wait of an actor, for a reason of csrc/shared/protocol.h
        # observers of a changed control file, whose new text a program may be waiting for
        self.on_news: Observers[[]] = Observers()
        self.on_removed: Observers[Group] = Observers()
