"""What faults need of the kernel that composes them (rsg_server.kernel), as a protocol.

Faults stand above processes and sockets, and below handlers and the turn, which they do not import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rsg_server.sockets import needs as sockets

if TYPE_CHECKING:
    from rsg_server.process.cpu import Cpu
    from rsg_server.process.host_state import HostState, Launcher
    from rsg_server.process.lifecycle import Lifecycle
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals
    from rsg_server.storage.storages import Storages


class Cgroups(Protocol):
    """The groups of all hosts (rsg_server.cgroups.cgroups)."""

    def lost(self, host: HostState) -> None:
        """Forget those of a host."""


class Kernel(sockets.Kernel, Protocol):
    """The network that a fault changes, and the processes that end with their host."""

    @property
    def cgroups(self) -> Cgroups: ...
    @property
    def processes(self) -> dict[int, Process]: ...
    @property
    def cpu(self) -> Cpu: ...
    @property
    def lifecycle(self) -> Lifecycle: ...
    @property
    def signals(self) -> Signals: ...
    @property
    def storages(self) -> Storages: ...
    @property
    def launcher(self) -> Launcher: ...
