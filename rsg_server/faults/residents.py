"""Sends signals to all processes of a host at a shutdown, and ends them at a power cut."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rsg_server.observers import Observers
from rsg_server.process import native_signal

if TYPE_CHECKING:
    from rsg_server.process.host_state import HostState, Launcher
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals


class Residents:
    """Signals and ends all processes of a host, in the order of their births."""

    def __init__(self, processes: Mapping[int, Process], signals: Signals, deaths: Deaths, launcher: Launcher) -> None:
        self._processes, self._signals, self._deaths, self._launcher = processes, signals, deaths, launcher
        self.on_killed: Observers[HostState] = Observers()
        """Observers get a host after SIGKILL was sent to all of its processes, before the server waits for their deaths."""

    def of(self, host: str) -> list[Process]:
        """Return the processes of a host in the order of their births."""
        return [self._processes[number] for number in sorted(self._processes) if self._processes[number].host.name == host]

    def signal(self, host: str, number: signal.Signals) -> None:
        """Send a signal to each live process of a host; after SIGKILL, the processes are dead when this function returns."""
        for process in self.of(host):
            if process.dead:
                continue
            self._signals.send(process, number)
            if number == signal.SIGKILL:
                self._deaths.await_death(process)
            else:
                self._signals.notice(process, number)

    def cut(self, host: HostState) -> None:
        """End all processes of a host at once, as a power cut does; all are dead when this function returns."""
        processes = self.of(host.name)
        for process in processes:
            native_signal.send(process.pidfd, signal.SIGKILL)
        self._launcher.power_off(host.name)
        self.on_killed.tell(host)
        for process in processes:
            self._deaths.await_death(process)
