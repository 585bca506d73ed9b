"""What Remote SimGrid needs of the kernel that composes the server (rsg_server.kernel), as a protocol."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.faults.faults import Faults
    from rsg_server.network.network import Network
    from rsg_server.options import KernelOptions
    from rsg_server.platform.platform import Platform
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu import Cpu
    from rsg_server.process.lifecycle import Lifecycle
    from rsg_server.process.wait import ActorWait
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.storage.storages import Storages


class Kernel(Protocol):
    """The clock, the turn, and the platform with what changes it."""

    @property
    def now_ns(self) -> int: ...
    @property
    def shared(self) -> SharedMemory: ...
    @property
    def timeline(self) -> Timeline: ...
    @property
    def platform(self) -> Platform: ...
    @property
    def options(self) -> KernelOptions: ...
    @property
    def network(self) -> Network: ...
    @property
    def cpu(self) -> Cpu: ...
    @property
    def faults(self) -> Faults: ...
    @property
    def storages(self) -> Storages: ...
    @property
    def lifecycle(self) -> Lifecycle: ...
    @property
    def run_queue(self) -> Sized: ...
    def is_off(self, host_name: str) -> bool:
        """Whether a host has no power."""

    def wake(self, actor: Actor, reason: int, value: int = 0) -> bool:
        """Put a parked actor at the end of the run queue; False if the actor does not wait."""

    def make_ready(self, actor: Actor) -> None:
        """Put an actor at the end of the run queue, unless its process is stopped."""

    def park(self, actor: Actor, wait: ActorWait, is_in_timer_queue: bool = False) -> None:
        """Take the turn from an actor until its wait ends."""
