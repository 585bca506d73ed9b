"""Handles messages about futexes: wakes the actors (threads) that wait at a futex word, or moves them to another word."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, handled
from rsg_server.process.futex import MATCH_ANY
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.futex import FutexTable

_WORD = struct.Struct("=qq")
WORDS_MAX = 128
"""The most futex words at which one thread may wait: FUTEX_WAITV_MAX of Linux (futex_waitv(2))."""


class FutexHandlers:
    """Handles WAKE, REQUEUE and the other messages about actors that wait at futexes."""

    def __init__(self, futexes: FutexTable) -> None:
        self._futexes = futexes

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.WAKE: self.wake,
                Op.REQUEUE: self.requeue,
                Op.WAITERS: self.waiters,
                Op.PASS_LOCK: self.pass_lock,
                Op.FUTEX_WORDS: self.words,
            }
        )

    def wake(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Wake at most `most` actors that wait at a futex word with a bit of `bitset`.

        [space, word, most, bitset] -> [number woken].
        """
        space, word, most, bitset = arguments
        key = self._futexes.key(actor, space, word)
        return Reply((self._futexes.wake(key, most, bitset),))

    def requeue(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Wake some actors that wait at a futex word, and let further ones wait at another word instead (FUTEX_REQUEUE).

        [space, word, to space, to word, most to wake, most to move] -> [number woken, number moved].
        """
        space, word, to_space, to_word, wake_most, move_most = arguments
        source = self._futexes.key(actor, space, word)
        target = self._futexes.key(actor, to_space, to_word)
        woken = self._futexes.wake(source, wake_most, MATCH_ANY)
        return Reply((woken, self._futexes.requeue(source, target, move_most)))

    def waiters(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Count the actors that wait at a futex word with a `detail`, the upper bits of their bitset.

        [space, word, detail] -> [number].
        """
        space, word, detail = arguments
        return Reply((self._futexes.count(self._futexes.key(actor, space, word), detail),))

    def pass_lock(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Pass a lock on: remove the first actor that waits at a futex word from the queue, as the lock's next owner.

        [space, word] -> [its tid, 0 if none waits; 1 if other actors still wait].
        """
        tid, others = self._futexes.pass_lock(self._futexes.key(actor, *arguments))
        return Reply((tid, int(others)))

    def words(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Set the futex words at which the actor will wait by its next PARK with SPACE_MANY (futex_waitv(2)).

        [(space, word) pairs, as bytes] -> [0]. Raises ValueError for a list that no shim sends.
        """
        blob = arguments[0]
        if len(blob) % _WORD.size or not 0 < len(blob) <= WORDS_MAX * _WORD.size:
            raise ValueError(f"{len(blob)} bytes of futex words: expected 1 to {WORDS_MAX} of {_WORD.size}")
        actor.words = tuple((space, word) for space, word in _WORD.iter_unpack(blob))
        if any(space < 0 for space, _ in actor.words):
            raise ValueError("futex space below 0")
        return OK
