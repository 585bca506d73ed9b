"""Who waits at which futex word, in order of arrival."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.actor import Actor
from rsg_server.protocol import Space, Wake

if TYPE_CHECKING:
    from rsg_server.kernel import Kernel

Key = tuple[int, int]


class FutexTable:
    """Queues of parked actors by key: (0 or a shared space, word), made unique per process for private words."""

    def __init__(self) -> None:
        self._queues: dict[Key, list[tuple[Actor, int]]] = {}
        self._keys: dict[int, Key] = {}  # by actor number
        self.lock_waiters = 0  # actors in queues of the space of file locks

    @staticmethod
    def key(actor: Actor, space: int, word: int) -> Key:
        """The key of a word as this actor names it; private words are told apart by their process."""
        if space < 0:
            raise ValueError(f"futex space {space}: below 0")
        return (space or -actor.process.number, word)

    def add(self, actor: Actor) -> None:
        """Queue an actor that has just parked at a futex."""
        parked = actor.parked
        assert parked is not None
        self._append(self.key(actor, parked.a, parked.b), actor, parked.c)

    def _append(self, key: Key, actor: Actor, waits_for: int) -> None:
        self._keys[actor.number] = key
        self._queues.setdefault(key, []).append((actor, waits_for))
        self.lock_waiters += key[0] == Space.LOCKS

    def remove(self, actor: Actor) -> None:
        """Take an actor out of its queue, wherever a requeue has moved it."""
        key = self._keys.pop(actor.number, None)
        if key is None:
            return
        self.lock_waiters -= key[0] == Space.LOCKS
        queue = self._queues[key]
        queue[:] = [entry for entry in queue if entry[0] is not actor]
        if not queue:
            del self._queues[key]

    def wake(self, kernel: Kernel, key: Key, most: int, bitset: int) -> int:
        """Wake up to `most` waiters whose bitset meets the given one, first come first served; returns how many."""
        woken = 0
        for actor, waits_for in list(self._queues.get(key, ())):
            if woken >= most:
                break
            if waits_for & bitset:
                self._wake_one(kernel, actor)
                woken += 1
        return woken

    def _wake_one(self, kernel: Kernel, actor: Actor) -> None:
        if not kernel.wake(actor, Wake.READY):  # a signal has made it ready, but it has not run since
            self.remove(actor)
            actor.reply = (int(Wake.READY), 0)

    def wake_space(self, kernel: Kernel, space: Space) -> None:
        """Let everybody who waits for an object of a kind look again."""
        for key in [key for key in self._queues if key[0] == space]:
            self.wake(kernel, key, 1 << 30, (1 << 32) - 1)

    def wake_shared(self, kernel: Kernel) -> None:
        """Let everybody who waits in shared memory look again: a process that died may have owned a robust lock there."""
        for key in [key for key in self._queues if key[0] > 0]:
            self.wake(kernel, key, 1 << 30, (1 << 32) - 1)

    def count(self, key: Key, detail: int) -> int:
        """How many wait at a word with this detail above their bitset."""
        return sum(waits_for >> 32 == detail for _, waits_for in self._queues.get(key, ()))

    def requeue(self, source: Key, target: Key, most: int) -> int:
        """Move up to `most` waiters to another word without waking them; returns how many."""
        if source == target:
            return 0
        moved = self._queues.get(source, [])[: max(most, 0)]
        for actor, waits_for in moved:
            self.remove(actor)
            self._append(target, actor, waits_for)
        return len(moved)
