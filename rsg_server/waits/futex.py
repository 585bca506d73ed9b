"""The wait at one word of memory (futex(2))."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.process.futex import FutexTable
from rsg_server.process.procfs import mapping_of, word_value
from rsg_server.process.wait import ActorWait, DescriptorWords
from rsg_server.protocol import WAIT_FUTEX

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor


class FutexWait(ActorWait):
    """A wait that ends when an actor wakes the futex word with a bit of `bitset`. In some spaces the bits above bit 31
    contain a further number, the detail.

    Space 0 is the private memory of the actor's process.
    """

    __slots__ = ("_futexes", "bitset", "space", "word")

    def __init__(self, futexes: FutexTable, space: int, word: int, bitset: int) -> None:
        super().__init__()
        self._futexes, self.space, self.word, self.bitset = futexes, space, word, bitset

    def in_core(self) -> tuple[int, int, int, int]:
        return WAIT_FUTEX, self.space, self.word, self.bitset

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        if self.space:
            return f"futex {self.word:#x} of shared memory {self.space:#x}"
        details = [mapping_of(actor.process, self.word), word_value(actor.process, self.word)]
        known = ", ".join(detail for detail in details if detail)
        return f"futex {self.word:#x}" + (f" ({known})" if known else "")
