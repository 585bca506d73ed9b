"""What cgroups need of the kernel that composes them (rsg_server.kernel)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.devices.table import Devices
    from rsg_server.event_log import EventLog
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu import Cpu
    from rsg_server.process.host_state import Launcher
    from rsg_server.process.lifecycle import Lifecycle
    from rsg_server.process.signals import Signals
    from rsg_server.storage.storages import Storages


class Readiness(Protocol):
    """Who asks the real kernel what has become ready (rsg_server.turn.readiness)."""

    def changed(self) -> None: ...


class Kernel(Protocol):
    """The parts that act for groups."""

    @property
    def now_ns(self) -> int: ...
    def wake(self, actor: Actor, reason: int, value: int = 0, /) -> bool: ...
    @property
    def launcher(self) -> Launcher: ...
    @property
    def lifecycle(self) -> Lifecycle: ...
    @property
    def signals(self) -> Signals: ...
    @property
    def readiness(self) -> Readiness: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def timeline(self) -> Timeline: ...
    @property
    def cpu(self) -> Cpu: ...
    @property
    def devices(self) -> Devices: ...
    @property
    def actors(self) -> dict[int, Actor]: ...
    @property
    def storages(self) -> Storages: ...
