"""The wait for the answer to an operation of Remote SimGrid. The server begins such a wait; no message of a shim does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rsg_server.process.wait import ActorWait, DescriptorWords

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor


class Operations(Protocol):
    """The operations that have not been answered (rsg_server.rsg.room)."""

    def words(self, thread: Actor) -> str:
        """Return words that say what a thread waits for, as its operation describes it."""


class OperationWait(ActorWait):
    """A wait that ends when the operation of the thread has been answered."""

    __slots__ = ("_operations",)

    def __init__(self, operations: Operations) -> None:
        super().__init__()
        self._operations = operations

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        return self._operations.words(actor)
