"""PARK: an actor gives the turn back until what it waits for has happened."""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply
from rsg_server.process.actor import IS_FILE, Parked
from rsg_server.process.lock_cycle import closes_cycle
from rsg_server.processor.charges import EXEC, IS_CHARGE, NICE
from rsg_server.protocol import (
    SPACE_LOCKS,
    WAIT_CHARGE,
    WAIT_CHARGE_REST,
    WAIT_COMPUTE,
    WAIT_CONNECT,
    WAIT_FD,
    WAIT_FUTEX,
    WAIT_PREEMPTED,
    WAIT_VFORK,
    WAIT_YIELD,
    WAKE_READY,
    WAKE_TIMEOUT,
    Op,
    Wait,
)

if TYPE_CHECKING:
    from rsg_server.handlers.needs import WaitKernel
    from rsg_server.process.actor import Actor

_KINDS = {int(kind) for kind in Wait if kind is not Wait.RSG}


def park(kernel: WaitKernel, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
    """[wait, syscall, deadline, blocked, a, b, c] -> [wake, value], sent when the actor has its next turn."""
    wait, syscall, deadline, blocked, a, b, c = arguments
    return _park(kernel, actor, Parked(wait, syscall, deadline, blocked, a, b, c, kernel.now_ns))


def park_at_slot(kernel: WaitKernel, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
    """[wait, syscall, deadline, blocked, a, b, c, siblings may wake it] -> [wake, value], written to the slot."""
    if not actor.slot:
        raise ValueError("PARK_AT_SLOT of an actor that has no slot")
    wait, syscall, deadline, blocked, a, b, c, siblings_may_wake = arguments
    actor.answer_at_slot = True
    return _park(kernel, actor, Parked(wait, syscall, deadline, blocked, a, b, c, kernel.now_ns, bool(siblings_may_wake)))


def _park(kernel: WaitKernel, actor: Actor, parked: Parked) -> Reply | None:
    """Park the actor, unless what it waits for has happened already; an actor that yields is ready at once."""
    wait, a = parked.wait, parked.a
    if wait not in _KINDS:
        raise ValueError(f"wait {wait}: no such kind")
    if wait == WAIT_PREEMPTED:
        kernel.preemption.gave_back(actor)
    if wait in (WAIT_YIELD, WAIT_PREEMPTED):
        actor.reply = (WAKE_READY, 0)
        kernel.make_ready(actor)
        return None
    if wait == WAIT_VFORK and not _is_vfork_child(kernel, actor, parked):
        return Reply((WAKE_READY, 0))
    if wait == WAIT_CONNECT:
        outcome = kernel.sockets.handshake.outcome(actor, parked.a)
        if outcome is not None:
            return Reply((WAKE_READY, outcome))
    if parked.deadline_ns >= 0 and parked.deadline_ns <= kernel.now_ns and wait != WAIT_FD:
        actor.reply = (WAKE_TIMEOUT, 0)
        kernel.make_ready(actor)
        return None
    if wait == WAIT_FUTEX and a == SPACE_LOCKS and closes_cycle(actor, parked):
        return Reply((WAKE_READY, -errno.EDEADLK))
    if wait in (WAIT_CHARGE, WAIT_CHARGE_REST) and not _compute(kernel, actor, parked):
        told = kernel.cpu_timers.ended(actor, WAKE_READY, 0)
        return None if actor.process.dead else Reply(told)
    if wait == WAIT_FD and parked.c & IS_FILE:
        kernel.shared.notices.tell_exclusive_files()
    kernel.park(actor, parked)
    return None


def _compute(kernel: WaitKernel, actor: Actor, parked: Parked) -> bool:
    """Turn a charge into the computing that is to pass; False if that is nothing."""
    if kernel.charges is None:
        raise ValueError("a charge under the CPU policy free")
    host = actor.process.host.host
    if parked.wait == WAIT_CHARGE:
        charged_ns = kernel.charges.charge(actor.number, parked.a, parked.b, parked.c, kernel.now_ns)
        kernel.charges.by_program[os.path.basename(actor.process.program)] += charged_ns
        cpu_ns = kernel.charges.cpu_ns(charged_ns, host)
        if not parked.b & EXEC:
            kernel.cpu_timers.count_prices(actor, parked.c)
    else:
        cpu_ns = kernel.cpu_timers.take_rest(actor)
    flops = kernel.charges.flops(actor.number, kernel.cpu_timers.begin(actor, cpu_ns), host)
    parked.wait, parked.a, parked.b, parked.c = WAIT_COMPUTE, flops, parked.b & NICE, IS_CHARGE
    return flops > 0


def _is_vfork_child(kernel: WaitKernel, actor: Actor, parked: Parked) -> bool:
    """Mark the child that the parent of a vfork waits for; False once the child has exec'd or is dead."""
    child = kernel.actors.get(parked.a)
    if child is None or child.process.parent is not actor.process or child.process.has_let_go:
        return False
    child.process.vfork_parent = actor
    return True


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
