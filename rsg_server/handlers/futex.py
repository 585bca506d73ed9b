"""Waking and moving futex waiters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import Handler, Reply
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.actor import Actor
    from rsg_server.kernel import Kernel

MATCH_ANY = 0xFFFFFFFF


def wake(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[space, word, most, bitset] -> [woken]"""
    space, word, most, bitset = arguments
    key = kernel.futexes.key(actor, space, word)
    return Reply((kernel.futexes.wake(kernel, key, most, bitset),))


def requeue(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[space, word, to space, to word, wake most, move most] -> [woken, moved]"""
    space, word, to_space, to_word, wake_most, move_most = arguments
    source = kernel.futexes.key(actor, space, word)
    target = kernel.futexes.key(actor, to_space, to_word)
    woken = kernel.futexes.wake(kernel, source, wake_most, MATCH_ANY)
    return Reply((woken, kernel.futexes.requeue(source, target, move_most)))


def waiters(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[space, word, detail] -> [how many wait there]"""
    space, word, detail = arguments
    return Reply((kernel.futexes.count(kernel.futexes.key(actor, space, word), detail),))


HANDLERS: dict[int, Handler] = {
    int(Op.WAKE): Handler("iiii", wake),
    int(Op.REQUEUE): Handler("iiiiii", requeue),
    int(Op.WAITERS): Handler("iii", waiters),
}
