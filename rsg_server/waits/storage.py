"""The wait for a modelled storage of the actor's host."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.process.wait import ActorWait, DescriptorWords
from rsg_server.protocol import MOST_TOLD, WAKE_READY
from rsg_server.storage.storages import STORAGE_AS_SAID

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.parking import Parking
    from rsg_server.shared.clock import Clock
    from rsg_server.storage.storages import Storages
    from rsg_server.storage.waits import StorageWaits


class StorageWait(ActorWait):
    """A wait that ends when bytes have been read or written, or when the operation that the actor has asked for
    (OP_STORAGE) is done.

    `direction` is a `Direction`, or STORAGE_AS_SAID for the operation that the actor has asked for. The actor gets the
    number of bytes that have not moved, or a negative errno. No signal ends the wait: work of a disk cannot be
    interrupted (signal(7)). Raises ValueError for more than MOST_TOLD bytes, which no shim asks for.
    """

    __slots__ = ("_clock", "_counts", "_parking", "_storages", "direction", "size_bytes", "storage")

    def __init__(
        self,
        clock: Clock,
        parking: Parking,
        storages: Storages,
        counts: StorageWaits,
        storage: int,
        size_bytes: int,
        direction: int,
    ) -> None:
        super().__init__()
        if size_bytes > MOST_TOLD:
            raise ValueError(f"a transfer of {size_bytes} bytes")
        self._clock, self._parking, self._storages, self._counts = clock, parking, storages, counts
        self.storage, self.size_bytes, self.direction = storage, size_bytes, direction

    def begin(self, actor: Actor) -> None:
        process = actor.process
        self._counts.begins(actor.number, process, self._clock.now_ns)
        done: Callable[[], object] = partial(self._parking.wake, actor, WAKE_READY)
        if self.direction == STORAGE_AS_SAID:
            self._storages.wait(actor.number, done)
        else:
            process.io.add(self.direction, self.size_bytes)
            self._storages.start(actor.number, process.host.host, self.storage, self.direction, self.size_bytes, done)

    def end(self, actor: Actor, reason: int, value: int) -> tuple[int, int]:
        value = self._storages.end(actor.number)
        self._counts.ends(actor.number, self._clock.now_ns)
        return reason, value

    def leave(self, actor: Actor) -> None:
        self._storages.end(actor.number)
        self._counts.ends(actor.number, self._clock.now_ns)

    def ends_by_itself(self) -> bool:
        return True

    def takes(self, bit: int, is_for_all: bool) -> bool:
        return False

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        words = self._storages.disks.words(self._storages.volume(actor.process.host.host, self.storage))
        if self.direction == STORAGE_AS_SAID:
            return words
        return f"{words} to {'write' if self.direction else 'read'} {self.size_bytes} bytes"
