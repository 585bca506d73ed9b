"""Futexes: wakes and moves the actors that wait at a word (futex(2))."""

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
"""The most words at which one thread may wait: FUTEX_WAITV_MAX of Linux (futex_waitv(2))."""


class FutexHandlers:
    """Handles WAKE, REQUEUE and the other messages about queues of waiters at futexes."""

    def __init__(self, futexes: FutexTable) -> None:
        self._futexes = futexes

    def table(self) -> dict[int, Handler]:
        """Return the handlers, by operation."""
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
        """[space, word, most, bitset] -> [woken]: wake actors that wait at a word, `most` of them at most."""
        space, word, most, bitset = arguments
        key = self._futexes.key(actor, space, word)
        return Reply((self._futexes.wake(key, most, bitset),))

    def requeue(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[space, word, to space, to word, wake most, move most] -> [woken, moved]: wake some waiters, move others."""
        space, word, to_space, to_word, wake_most, move_most = arguments
        source = self._futexes.key(actor, space, word)
        target = self._futexes.key(actor, to_space, to_word)
        woken = self._futexes.wake(source, wake_most, MATCH_ANY)
        return Reply((woken, self._futexes.requeue(source, target, move_most)))

    def waiters(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[space, word, detail] -> [how many actors wait at the word with this detail]."""
        space, word, detail = arguments
        return Reply((self._futexes.count(self._futexes.key(actor, space, word), detail),))

    def pass_lock(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[space, word] -> [tid of the lock's next owner, 0 if none waits; 1 if others still wait]: pass a lock on."""
        tid, others = self._futexes.pass_lock(self._futexes.key(actor, *arguments))
        return Reply((tid, int(others)))

    def words(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[(space, word) pairs] -> [0]: set the words at which the actor waits with its next PARK in SPACE_MANY."""
        blob = arguments[0]
        if len(blob) % _WORD.size or not 0 < len(blob) <= WORDS_MAX * _WORD.size:
            raise ValueError(f"{len(blob)} bytes of futex words: expected 1 to {WORDS_MAX} of {_WORD.size}")
        actor.words = tuple((space, word) for space, word in _WORD.iter_unpack(blob))
        if any(space < 0 for space, _ in actor.words):
            raise ValueError("futex space below 0")
        return OK
