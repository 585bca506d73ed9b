"""Starts the system bus (D-Bus) of a host when a process of the host first connects to it; csrc/bus is the bus itself."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process

GAVE_UP = 1
"""The exit code of a bus that cannot listen or is out of memory. Then no bus is started until the host boots again."""


@dataclass(frozen=True, slots=True)
class _Bus:
    """The process of a host's system bus, and the moment of the host's boot in which it was started."""

    process: Process
    booted_ns: int


class SystemBuses:
    """Starts the system buses of hosts, and records which hosts have one.

    `start` starts a bus on a host; while it is None, no host gets a bus. `warn` shows a message to the user.
    """

    def __init__(self, warn: Callable[[str], None]) -> None:
        self.start: Callable[[str], Process] | None = None
        self._warn = warn
        self._latest: dict[str, _Bus] = {}

    def ensure(self, host: HostState) -> bool:
        """Start the bus of a host unless it runs; return False if the host gets no bus."""
        latest = self._latest.get(host.name)
        if latest is not None and not latest.process.dead:
            return True
        if self.start is None or (latest is not None and latest.booted_ns == host.booted_ns and _gave_up(latest.process)):
            return False
        try:
            self._latest[host.name] = _Bus(self.start(host.name), host.booted_ns)
        except SimunixError as error:
            self._warn(f"{error}; {host.name} has no system bus")
            return False
        return True

    def holds(self, process: Process) -> bool:
        """Return whether a process is the bus of its host. No program of the scenario has started that process by itself."""
        latest = self._latest.get(process.host.name)
        return latest is not None and latest.process is process


def _gave_up(process: Process) -> bool:
    status = process.exit_status
    return status is not None and os.WIFEXITED(status) and os.WEXITSTATUS(status) == GAVE_UP


class BusHandlers:
    """Handles BUS."""

    def __init__(self, buses: SystemBuses) -> None:
        self._buses = buses

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled({Op.BUS: self.bus})

    def bus(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Start the system bus of the sender's host, which listens once it has had a turn.

        [] -> [0]; -ENOENT if the host gets no bus.
        """
        return OK if self._buses.ensure(actor.process.host) else failed(errno.ENOENT)
