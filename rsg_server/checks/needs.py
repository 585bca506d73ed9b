"""What the checks look at of the kernel that composes the server (rsg_server.kernel), as a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.process.actor import Actor
    from rsg_server.process.futex import FutexTable
    from rsg_server.process.slots import Slots
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.turn.run_queue import RunQueue


class CheckedKernel(Protocol):
    """The clock, what is due, and where each actor stands."""

    @property
    def shared(self) -> SharedMemory: ...
    @property
    def timeline(self) -> Timeline: ...
    @property
    def run_queue(self) -> RunQueue: ...
    @property
    def actors(self) -> dict[int, Actor]: ...
    @property
    def slots(self) -> Slots: ...
    @property
    def futexes(self) -> FutexTable: ...
