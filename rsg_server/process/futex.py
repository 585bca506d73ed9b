"""Futexes: the actors that wait at each word, in the order of their arrival; the queues are in csrc/turn/waits/futexes.c."""

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
"""A waiting actor, the bits that it waits for (with a detail above bit 31), and the index of the word among its words."""
MATCH_ANY = (1 << 32) - 1
_WORD = (1 << 64) - 1
_MOST = 1 << 40
_OBJECTS = frozenset(map(int, Space))
"""Spaces of words that are no memory: which of their waiters is served is not for a futex to say."""


class FutexTable:
    """The queues of parked actors at futexes, by key.

    A key is (space, word) in shared memory or of a kind of kernel object, and (-number of the process, word) in private
    memory.
    """

    def __init__(self, parking: Parking) -> None:
        self._parking = parking
        self._core = parking.core
        self.pick: Callable[[list[Actor]], int] | None = None
        """Of a run that explores: which of several waiters of a word in memory is woken."""

    @staticmethod
    def key(actor: Actor, space: int, word: int) -> Key:
        """Return the key of a word from an actor's message: space 0 is the private memory of the actor's process."""
        if space < 0:
            raise ValueError(f"futex space {space}: below 0")
        return (space or -actor.process.number, word)

    @property
    def lock_waiters(self) -> int:
        """The number of actors that wait in queues of the space of file locks."""
        count: int = lib.futexes_lock_waiters(self._core)
        return count

    def add_words(self, actor: Actor) -> None:
        """Queue an actor that has just parked at all of its words."""
        for place, (space, word) in enumerate(actor.words):
            self.add(actor, self.key(actor, space, word), MATCH_ANY, place)

    def add(self, actor: Actor, key: Key, waits_for: int, place: int = 0) -> None:
        """Queue an actor at one of its words, for the bits that it waits for there."""
        lib.futexes_add(self._core, actor.record, _in_core(key), waits_for, place)

    def remove(self, actor: Actor) -> None:
        """Take an actor out of all its queues, including those to which a requeue has moved it."""
        lib.futexes_remove(self._core, actor.record)

    def queues(self) -> dict[Key, list[Waiter]]:
        """Return the waiters of all words, in the order in which the words got their first waiter."""
        found = {}
        queue = lib.futexes_first(self._core)
        while queue:
            key = queue.key
            found[(-key.space if key.is_private else key.space, key.word)] = _waiters(queue)
            queue = queue.after
        return found

    def waiting(self) -> list[Actor]:
        """Return all actors that are in a queue."""
        return [actor for waiters in self.queues().values() for actor, _, _ in waiters]

    def misplaced(self) -> Actor | None:
        """Find an actor that is queued at a word which its record does not list, an error; None if there is none."""
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
        """Wake up to `most` waiters whose bitset meets `bitset`, in the order of their arrival. Returns how many were woken."""
        picked = 0
        if self.pick is not None and most > 0 and key[0] not in _OBJECTS:
            picked = self._wake_picked(self.pick, key, most, bitset)
        woken: int = lib.futexes_wake(self._core, _in_core(key), max(0, min(most - picked, _MOST)), bitset & _WORD)
        return picked + woken

    def _wake_picked(self, pick: Callable[[list[Actor]], int], key: Key, most: int, bitset: int) -> int:
        """Wake picked ones as long as there are more waiters than may still be woken. Returns how many were woken."""
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
        """Wake the first waiter of a lock, its next owner. Returns its thread id (0: nobody waits) and whether others wait."""
        record = lib.futexes_pass(self._core, _in_core(key))
        if not record:
            return 0, False
        return actor_of(record).tid, bool(lib.futexes_at(self._core, _in_core(key)))

    def wake_space(self, space: Space) -> None:
        """Wake all actors that wait for an object of a kind, so that they look at it again."""
        lib.futexes_wake_space(self._core, space)

    def wake_shared(self) -> None:
        """Wake all actors that wait in shared memory: a dead process may have owned a robust lock at one of their words."""
        lib.futexes_wake_shared(self._core)

    def count(self, key: Key, detail: int) -> int:
        """Return the number of actors that wait at a word with this detail above their bitset."""
        count: int = lib.futexes_count(self._core, _in_core(key), detail)
        return count

    def requeue(self, source: Key, target: Key, most: int) -> int:
        """Move up to `most` waiters to another word without waking them. Returns how many were moved."""
        moved: int = lib.futexes_requeue(self._core, _in_core(source), _in_core(target), max(0, min(most, _MOST)))
        return moved


def _in_core(key: Key) -> tuple[int, int, int]:
    """Convert a key to a struct futex_key: space, word, whether it is private memory. Raises OverflowError beyond 64 bits."""
    return (-key[0], key[1], 1) if key[0] < 0 else (key[0], key[1], 0)


def _waiters(queue: Any) -> list[Waiter]:
    found = []
    waiter = queue.first
    while waiter:
        found.append((actor_of(waiter.actor), waiter.waits_for, waiter.place))
        waiter = waiter.after
    return found
