"""Frees what the server keeps of a process when the process has died."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from rsg_server.observers import Observers
from rsg_server.process.process import Process

if TYPE_CHECKING:
    from rsg_server.process.channel_pool import ChannelPool
    from rsg_server.process.life.threads import Threads
    from rsg_server.process.signals import Signals


class Readiness(Protocol):
    """The part of rsg_server.turn.readiness that is used here: the epoll by which the server learns of deaths of processes."""

    def unwatch(self, descriptor: int, target: Process) -> None:
        """Stop watching a descriptor; do nothing if it is not watched."""

    def changed(self) -> None:
        """Note that a descriptor may have become ready, so that the turn loop asks the kernel before it gives the next turn."""


class Remains:
    """Closes and forgets what belongs to dead processes. `processes` are all living processes by number."""

    def __init__(
        self,
        processes: dict[int, Process],
        threads: Threads,
        channel_pool: ChannelPool,
        readiness: Readiness,
        signals: Signals,
    ) -> None:
        self._processes, self._threads, self._channel_pool = processes, threads, channel_pool
        self._readiness, self._signals = readiness, signals
        self.on_release: Observers[Process] = Observers()  # observers get each dead process that the server forgets

    def release(self, process: Process) -> None:
        """Close and forget everything that the server keeps of a dead process."""
        for actor in list(process.actors):
            self._threads.end(actor)
        self._channel_pool.close(process)
        for timer in process.timers.values():
            if timer.event is not None:
                timer.event.cancel()
        if process.pidfd >= 0:
            self._readiness.unwatch(process.pidfd, process)
            os.close(process.pidfd)
            process.pidfd = -1
        process.host.processes.pop(process.pid, None)
        del self._processes[process.number]
        self._signals.listeners.pop(process.number, None)
        self.on_release.tell(process)
        self._readiness.changed()
