"""PARK: an actor gives the turn back until what it waits for has happened."""

from __future__ import annotations

import os
import select
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.handlers.needs import WaitKernel
    from rsg_server.process.actor import Actor
    from rsg_server.process.wait import ActorWait


def park(kernel: WaitKernel, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
    """[wait, syscall, deadline, blocked, a, b, c] -> [wake, value], sent when the actor has its next turn."""
    wait, syscall, deadline, blocked, a, b, c = arguments
    return _park(kernel, actor, kernel.waits.make(wait, syscall, deadline, blocked, a, b, c, kernel.now_ns))


def park_at_slot(kernel: WaitKernel, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
    """[wait, syscall, deadline, blocked, a, b, c, siblings may wake it] -> [wake, value], written to the slot."""
    if not actor.slot:
        raise ValueError("PARK_AT_SLOT of an actor that has no slot")
    wait, syscall, deadline, blocked, a, b, c, siblings = arguments
    actor.answer_at_slot = True
    return _park(kernel, actor, kernel.waits.make(wait, syscall, deadline, blocked, a, b, c, kernel.now_ns, bool(siblings)))


def _park(kernel: WaitKernel, actor: Actor, wait: ActorWait) -> Reply | None:
    """Park the actor, unless what it waits for has happened already; an actor that yields is ready at once."""
    told = wait.prepare(actor)
    if told is not None:
        return None if actor.process.dead else Reply(told)  # a charge may have reached a limit, which ends the process
    reason = wait.over()
    if reason is None:
        kernel.park(actor, wait)
    else:
        actor.reply = (reason, 0)
        kernel.make_ready(actor)
    return None


def epoll(kernel: WaitKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[] -> a private epoll, which the server watches in its own; only the actor keeps the descriptor open."""
    with select.epoll() as private:
        kernel.readiness.watch(private.fileno(), actor)
        return Reply(fds=(os.dup(private.fileno()),))


def look(kernel: WaitKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[] -> [0]; the actor has written something: of those that watch it with EPOLLEXCLUSIVE one is woken for this write."""
    kernel.turns.look()
    return OK


HANDLERS: dict[int, Handler] = {
    int(Op.PARK): Handler("iiiiiii", park),
    int(Op.PARK_AT_SLOT): Handler("iiiiiiii", park_at_slot),
    int(Op.EPOLL): Handler("", epoll),
    int(Op.LOOK): Handler("", look),
}
