"""Futexes: for each futex word, the actors that wait there, in the order of their arrival (csrc/turn/waits/futexes.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rsg_server._native import lib
from rsg_server.process.actor import Actor, actor_of
from rsg_server.protocol import Space

if TYPE_CHECKING:
    from rsg_server.process.parking import Parking

Key = tuple[int, int]
Waiter = tuple[Actor, int, int]
"""An actor that waits at a futex word, the bits that it waits for (above bit 31 a detail), and the place of the word
among its words.
"""
MATCH_ANY = (1 << 32) - 1
_WORD = (1 << 64) - 1
_MOST = 1 << 40
_OBJECTS = frozenset(map(int, Space))
"""The spaces of futex words that are no memory but stand for kernel objects.

The code that handles such an object decides which waiter the object serves.
"""


class FutexTable:
    """The queues of actors that wait at futexes, by key.

    A key is (space, word) for a word in shared memory or of a kind of kernel object, and (-number of the process, word)
    for one in private memory.
    """

    def __init__(self, parking: Parking) -> None:
        self._parking = parking
        self._core = parking.core
        self.pick: Callable[[list[Actor]], int] | None = None
        """In a run of `simunix explore`: chooses which of several waiters of a word in memory is woken."""

    @staticmethod
    def key(actor: Actor, space: int, word: int) -> Key:
        """Return the key of a futex word in an actor's message. The space 0 is the private memory of the actor's process."""
        if space < 0:
            raise ValueError(f"futex space {space}: below 0")
        return (space or -actor.process.number, word)

    @property
    def lock_waiters(self) -> int:
        """The number of actors that wait for locks of files."""
        count: int = lib.futexes_lock_waiters(self._core)
        return count

    def add_words(self, actor: Actor) -> None:
        """Add an actor, which waits now, to the queues of all its futex words."""
        for place, (space, word) in enumerate(actor.words):
            self.add(actor, self.key(actor, space, word), MATCH_ANY, place)

    def add(self, actor: Actor, key: Key, waits_for: int, place: int = 0) -> None:
        """Add an actor to the queue of one of its futex words, for the bits that it waits for there."""
        lib.futexes_add(self._core, actor.record, _in_core(key), waits_for, place)

    def remove(self, actor: Actor) -> None:
        """Remove an actor from all its queues, also from those to which FUTEX_REQUEUE has moved it."""
        lib.futexes_remove(self._core, actor.record)

    def queues(self) -> dict[Key, list[Waiter]]:
        """Return the waiters of all futex words; the words are in the order in which they got their first waiter."""
        found = {}
        queue = lib.futexes_first(self._core)
        while queue:
            key = queue.key
            found[(-key.space if key.is_private else key.space, key.word)] = _waiters(queue)
            queue = queue.after
        return found

    def waiting(self) -> list[Actor]:
        """Return all actors that wait in a queue."""
        return [actor for waiters in self.queues().values() for actor, _, _ in waiters]

    def misplaced(self) -> Actor | None:
        """Return an actor that is in the queue of a word which its record does not list, which is a mistake; None if
        there is none.
        """
        queue = lib.futexes_first(self._core)
        while queue:
            waiter = queue.first
            while waiter:
                known = waiter.actor.waits_at
                while known and known != waiter:
                    known = known.other
                if not known:
                    return actor_of(waiter.actor)
                waiter = waiter.after
            queue = queue.after
        return None

    def wake(self, key: Key, most: int, bitset: int) -> int:
        """Wake at most `most` waiters whose bitset meets `bitset`, in the order of their arrival.

        Return how many were woken.
        """
        picked = 0
        if self.pick is not None and most > 0 and key[0] not in _OBJECTS:
            picked = self._wake_picked(self.pick, key, most, bitset)
        woken: int = lib.futexes_wake(self._core, _in_core(key), max(0, min(most - picked, _MOST)), bitset & _WORD)
        return picked + woken

    def _wake_picked(self, pick: Callable[[list[Actor]], int], key: Key, most: int, bitset: int) -> int:
        """Wake waiters that `pick` chooses, while there are more of them than may still be woken.

        Return how many were woken.
        """
        place, picked = _in_core(key), 0
        while picked < most:
            queue = lib.futexes_at(self._core, place)
            waiters = [actor for actor, bits, _ in _waiters(queue) if bits & bitset] if queue else []
            waiters = list(dict.fromkeys(waiters))  # an actor may wait at one word more than once (futex_waitv(2))
            if len(waiters) <= most - picked:
                break
            lib.futexes_put_first(self._core, place, waiters[pick(waiters)].record)
            lib.futexes_wake(self._core, place, 1, bitset & _WORD)
            picked += 1
        return picked

    def pass_lock(self, key: Key) -> tuple[int, bool]:
        """Wake the first waiter of a lock, which becomes its owner.

        Return its tid (0 if there is none), and whether others wait.
        """
        record = lib.futexes_pass(self._core, _in_core(key))
        if not record:
            return 0, False
        return actor_of(record).tid, bool(lib.futexes_at(self._core, _in_core(key)))

    def wake_space(self, space: Space) -> None:
        """Wake all actors that wait for kernel objects of one kind, so that they look at the objects again."""
        lib.futexes_wake_space(self._core, space)

    def wake_shared(self) -> None:
        """Wake all actors that wait in shared memory.

        The method is called after a death, since the dead process may have owned a robust lock at one of the futex words.
        """
        lib.futexes_wake_shared(self._core)

    def count(self, key: Key, detail: int) -> int:
        """Return the number of actors that wait at a word with this detail in the bits above their bitset."""
        count: int = lib.futexes_count(self._core, _in_core(key), detail)
        return count

    def requeue(self, source: Key, target: Key, most: int) -> int:
        """Move at most `most` waiters to the queue of another word without waking them. Return how many were moved."""
        moved: int = lib.futexes_requeue(self._core, _in_core(source), _in_core(target), max(0, min(most, _MOST)))
        return moved


def _in_core(key: Key) -> tuple[int, int, int]:
    """Return a key as a struct futex_key of C: space, word, 1 for private memory. Raises OverflowError beyond 64 bits."""
    return (-key[0], key[1], 1) if key[0] < 0 else (key[0], key[1], 0)


def _waiters(queue: Any) -> list[Waiter]:
    found = []
    waiter = queue.first
    while waiter:
        found.append((actor_of(waiter.actor), waiter.waits_for, waiter.place))
        waiter = waiter.after
    return found
