"""HANDED_OFF: shims have handed the turn on without the server, which learns which actor has it and what others wait for.

Or the holder has woken siblings at a futex while others were ready: these join the end of the run queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server._native import ffi
from rsg_server.clock.timer_queue import Alarm
from rsg_server.handlers.table import Handler
from rsg_server.process.actor import STATE_PARKED, STATE_READY, STATE_RUNNING, Actor
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.handlers.needs import HandoffKernel

_MAY_HAVE_HAD_THE_TURN = (STATE_PARKED, STATE_RUNNING)


def handed_off(kernel: HandoffKernel, actor: Actor, arguments: Sequence[Any]) -> None:
    """[digest, bytes, message]: the sender has the turn, and says the message next.

    The bytes are a struct simunix_handoff for each sibling whose wait has changed. The journal in shared memory, which comes
    first in time, tells of the actors of other processes.
    """
    digest, blob, message = arguments
    if len(blob) % ffi.sizeof("struct simunix_handoff"):
        raise ValueError(f"{len(blob)} bytes of handoffs")
    news = ffi.from_buffer("struct simunix_handoff[]", blob)
    if any(kernel.slots[entry.slot].process is not actor.process for entry in news):
        raise ValueError("handoffs of another process")
    if len({entry.slot for entry in news}) < len(news):
        raise ValueError("handoffs that name a slot twice")
    if not message:
        raise ValueError("handoffs without a message")
    catch_up(kernel, actor, news)
    kernel.log.handoffs(digest)
    kernel.turns.hand_to(actor, message)


def catch_up(kernel: HandoffKernel, runner: Actor, news: Sequence[Any] = ()) -> None:
    """Bring all actors to the state that the journal, then the news of the runner's process, say.

    Raises ValueError or KeyError if what they say is impossible.
    """
    latest: dict[int, Any] = {}
    for entry in (*kernel.shared.journal.take(), *news):  # the last one of each slot, in the order in which the waits began
        latest.pop(entry.slot, None)
        latest[entry.slot] = entry
    latest.pop(runner.slot, None)
    _wake_ready(kernel, latest)
    passed = [kernel.slots[slot] for slot in latest]
    if any(actor.state not in _MAY_HAVE_HAD_THE_TURN for actor in (runner, *passed)):
        raise ValueError("handoffs of an actor that was neither parked nor running")
    if all(actor.state is not STATE_RUNNING for actor in (runner, *passed)):
        raise ValueError("handoffs, none of them of the actor that had the turn")
    kernel.unpark(runner)
    others = [
        (actor, entry) for actor, entry in zip(passed, latest.values(), strict=True) if not _goes_on(kernel, actor, entry)
    ]
    for actor, _ in others:
        kernel.unpark(actor)
    for actor, entry in others:
        _begin(kernel, actor, entry)
    runner.state, runner.answer_at_slot = STATE_RUNNING, False
    kernel.shared.turn.caught_up()


def _wake_ready(kernel: HandoffKernel, latest: dict[int, Any]) -> None:
    """Take out of the news those actors that a signal had made ready before a sibling woke them: they keep their place."""
    for slot, entry in list(latest.items()):
        actor = kernel.slots[slot]
        if actor.state is STATE_READY and entry.is_ready:
            if actor.parked is not None:
                actor.parked.leave(actor)
            actor.reply = (entry.wake, 0)
            del latest[slot]


def _goes_on(kernel: HandoffKernel, actor: Actor, entry: Any) -> bool:
    """Whether an actor waits for the same as before, alone at its futex, only until later: most threads that tick do.

    The wait is then updated in place, which is cheaper than a new wait.
    """
    parked = actor.parked
    if entry.is_ready or parked is None or not parked.siblings_may_wake or actor.state is not STATE_PARKED:
        return False
    if entry.deadline < 0 or not isinstance(actor.timeout, Alarm):
        return False
    if not parked.goes_on(actor, entry.wait, entry.word, entry.bitset):
        return False
    parked.set_terms(entry.syscall, entry.deadline, entry.blocked, kernel.now_ns, True)
    return True


def _begin(kernel: HandoffKernel, actor: Actor, entry: Any) -> None:
    """Park an actor as the entry says, or make it ready if the entry says that its wait has ended."""
    actor.answer_at_slot = True
    if entry.is_ready:
        actor.reply = (entry.wake, 0)
        kernel.make_ready(actor)
        return
    said = (entry.wait, entry.syscall, entry.deadline, entry.blocked, entry.word, entry.bitset)
    kernel.park(actor, kernel.waits.make_by_sibling(*said, kernel.now_ns), is_in_timer_queue=True)


HANDLERS: dict[int, Handler] = {int(Op.HANDED_OFF): Handler("ibb", handed_off)}
