"""Futexes: the actors that wait at each word, in the order of their arrival."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rsg_server.process.actor import Actor
from rsg_server.protocol import SPACE_LOCKS, WAKE_READY, Space

if TYPE_CHECKING:
    from rsg_server.process.parking import Parking

Key = tuple[int, int]
Entry = tuple[Actor, int, int]
"""A waiting actor, the bits that it waits for (with a detail above bit 31), and which of its words this is."""
MATCH_ANY = (1 << 32) - 1
LOOK_AGAIN: Final = -1
"""In the place of the number of a word: nobody has woken the actor, but its word may have changed."""


class FutexTable:
    """Queues of parked actors by key.

    A key is (space, word) in shared memory or of a kind of kernel object, and (-number of the process, word) in private memory.
    """

    def __init__(self, parking: Parking) -> None:
        self._parking = parking
        self._queues: dict[Key, list[Entry]] = {}
        self._keys: dict[int, list[Key]] = {}  # by actor number
        self.lock_waiters = 0  # actors in queues of the space of file locks

    @staticmethod
    def key(actor: Actor, space: int, word: int) -> Key:
        """The key of a word as an actor names it: space 0 is the private memory of the actor's process."""
        if space < 0:
            raise ValueError(f"futex space {space}: below 0")
        return (space or -actor.process.number, word)

    def add(self, actor: Actor, space: int, word: int, waits_for: int) -> None:
        """Queue an actor that has just parked at a futex, for the bits that it waits for."""
        self._append(self.key(actor, space, word), (actor, waits_for, 0))

    def add_words(self, actor: Actor) -> None:
        """Queue an actor that has just parked at all of its words."""
        for place, (space, word) in enumerate(actor.words):
            self._append(self.key(actor, space, word), (actor, MATCH_ANY, place))

    def _append(self, key: Key, entry: Entry) -> None:
        self._keys.setdefault(entry[0].number, []).append(key)
        self._queues.setdefault(key, []).append(entry)
        self.lock_waiters += key[0] == SPACE_LOCKS

    def remove(self, actor: Actor) -> None:
        """Take an actor out of its queues, those to which a requeue has moved it as well."""
        for key in dict.fromkeys(self._keys.pop(actor.number, ())):
            self.lock_waiters -= key[0] == SPACE_LOCKS
            queue = self._queues[key]
            queue[:] = [entry for entry in queue if entry[0] is not actor]
            if not queue:
                del self._queues[key]

    def waiting(self) -> list[Actor]:
        """All actors that are queued somewhere."""
        return [entry[0] for queue in self._queues.values() for entry in queue]

    def misplaced(self) -> Actor | None:
        """An actor that is queued at a word of which its keys know nothing; None if there is none, as it should be."""
        for key, queue in self._queues.items():
            for entry in queue:
                if key not in self._keys.get(entry[0].number, ()):
                    return entry[0]
        return None

    def is_alone(self, actor: Actor) -> bool:
        """Whether no other actor waits at any of the words at which an actor waits."""
        return all(len(self._queues[key]) == 1 for key in self._keys.get(actor.number, ()))

    def wake(self, key: Key, most: int, bitset: int) -> int:
        """Wake up to `most` waiters whose bitset meets `bitset`, in the order of their arrival. Returns how many were woken."""
        woken = 0
        gone: set[int] = set()
        for actor, waits_for, place in list(self._queues.get(key, ())):
            if woken >= most:
                break
            if waits_for & bitset and actor.number not in gone:
                gone.add(actor.number)
                self._wake_one(actor, place)
                woken += 1
        return woken

    def _wake_one(self, actor: Actor, place: int) -> None:
        if not self._parking.wake(
            actor, WAKE_READY, place
        ):  # a signal has made the actor ready, but the actor has not run since
            self.remove(actor)
            actor.reply = (WAKE_READY, place)

    def pass_lock(self, key: Key) -> tuple[int, bool]:
        """Wake the first waiter of a lock, its next owner: its thread id (0 if nobody waits), and whether others wait."""
        queue = self._queues.get(key)
        if not queue:
            return 0, False
        actor, _, place = queue[0]
        self._wake_one(actor, place)
        return actor.tid, key in self._queues

    def wake_space(self, space: Space) -> None:
        """Wake all actors that wait for an object of a kind, so that they look at it again."""
        for key in [key for key in self._queues if key[0] == space]:
            self.wake(key, 1 << 30, MATCH_ANY)

    def wake_shared(self) -> None:
        """Let all actors that wait in shared memory look at their words: a dead process may have owned a robust lock there.

        One whose word is as it was waits on; a waiter that a requeue has moved knows only its first word, and is left alone.
        """
        for key in [key for key in self._queues if key[0] > 0]:
            for actor, _, place in list(self._queues.get(key, ())):
                parked = actor.parked
                if parked is not None and parked.is_at_words():
                    self._wake_one(actor, place)
                elif parked is None or parked.is_at_word(*key):
                    self._parking.wake(actor, WAKE_READY, LOOK_AGAIN)  # without effect on one that is to run anyhow

    def count(self, key: Key, detail: int) -> int:
        """The number of actors that wait at a word with this detail above their bitset."""
        return sum(waits_for >> 32 == detail for _, waits_for, _ in self._queues.get(key, ()))

    def requeue(self, source: Key, target: Key, most: int) -> int:
        """Move up to `most` waiters to another word without waking them. Returns how many were moved."""
        if source == target:
            return 0
        moved = self._queues.get(source, [])[: max(most, 0)]
        for entry in moved:
            keys = self._keys[entry[0].number]
            self.remove(entry[0])
            for place, key in enumerate(keys):
                self._append(target if place == entry[2] else key, entry if place == entry[2] else (entry[0], MATCH_ANY, place))
        return len(moved)
