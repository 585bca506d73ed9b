"""Waits at one word of memory (futex(2))."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.process.futex import LOOK_AGAIN, FutexTable
from rsg_server.process.procfs import mapping_of, word_value
from rsg_server.process.wait import ActorWait, DescriptorWords
from rsg_server.protocol import WAIT_FUTEX, WAKE_SIGNAL

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor


class FutexWait(ActorWait):
    """Ends when somebody wakes the word with a bit of `bitset`; above its 32 bits is a detail of some spaces.

    Space 0 is the private memory of the actor's process.
    """

    __slots__ = ("_futexes", "bitset", "space", "word")

    def __init__(self, futexes: FutexTable, space: int, word: int, bitset: int) -> None:
        super().__init__()
        self._futexes, self.space, self.word, self.bitset = futexes, space, word, bitset

    def begin(self, actor: Actor) -> None:
        self._futexes.add(actor, self.space, self.word, self.bitset)

    def end(self, actor: Actor, reason: int, value: int) -> tuple[int, int]:
        """A signal may be blocked or ignored: until the actor has looked, a wake may still find the actor in its queue."""
        if reason != WAKE_SIGNAL and value != LOOK_AGAIN:
            self._futexes.remove(actor)
        return reason, value

    def leave(self, actor: Actor) -> None:
        self._futexes.remove(actor)

    def goes_on(self, actor: Actor, kind: int, word: int, bitset: int) -> bool:
        """Only alone at the word: among others the actor would get another place."""
        return kind == WAIT_FUTEX and word == self.word and bitset == self.bitset and self._futexes.is_alone(actor)

    def is_at_word(self, space: int, word: int) -> bool:
        return space == self.space and word == self.word

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        if self.space:
            return f"futex {self.word:#x} of shared memory {self.space:#x}"
        details = [mapping_of(actor.process, self.word), word_value(actor.process, self.word)]
        known = ", ".join(detail for detail in details if detail)
        return f"futex {self.word:#x}" + (f" ({known})" if known else "")
