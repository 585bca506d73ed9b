"""Chooses the wait for a futex space: memory, several words at once, or kernel objects, whose numbers stand for words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.process.wait import DescriptorWords
from rsg_server.protocol import SPACE_LOCKS, SPACE_MANY, Space
from rsg_server.waits.file_lock import FileLockWait
from rsg_server.waits.futex import FutexWait
from rsg_server.waits.table import Maker
from rsg_server.waits.words import listed

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.futex import FutexTable
    from rsg_server.process.wait import ActorWait

_OBJECTS = {
    int(Space.SEMAPHORES): "the System V semaphore set",
    int(Space.QUEUES): "the System V message queue",
    int(Space.FIFOS): "the other side of the FIFO with inode",
}
_NUMBER = 0xFFFFFFFF


class WordsWait(FutexWait):
    """A wait that ends when an actor wakes one of the words that the waiting actor has listed before (futex_waitv(2))."""

    def begin(self, actor: Actor) -> None:
        self._futexes.add_words(actor)

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        return f"any of {len(actor.words)} futexes: " + listed([f"{word:#x}" for _, word in actor.words])


class ObjectWait(FutexWait):
    """A wait that ends when an actor has changed a kernel object, whose number is the lower half of `word`."""

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        return f"{_OBJECTS[self.space]} {self.word & _NUMBER}"


class FutexMaker(Maker):
    """Makes waits at futexes, of the kind that belongs to the space."""

    def __init__(self, futexes: FutexTable) -> None:
        super().__init__(self.make)
        self._futexes = futexes

    def make(self, a: int, b: int, c: int) -> ActorWait:
        if a == 0:
            return FutexWait(self._futexes, a, b, c)
        if a == SPACE_LOCKS:
            return FileLockWait(self._futexes, a, b, c)
        if a == SPACE_MANY:
            return WordsWait(self._futexes, a, b, c)
        return ObjectWait(self._futexes, a, b, c) if a in _OBJECTS else FutexWait(self._futexes, a, b, c)
