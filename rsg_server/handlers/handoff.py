"""HANDED_OFF: the turn has gone on without the server, which learns now who has it and who waits for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server._native import ffi, lib
from rsg_server.clock.clock_page import RUNNING, SIBLINGS_READY
from rsg_server.clock.timer_queue import Alarm
from rsg_server.handlers.table import Handler
from rsg_server.process.actor import Actor, Parked, State
from rsg_server.protocol import JOURNAL_MAX, Op, Wait

if TYPE_CHECKING:
    from rsg_server.handlers.needs import Kernel

_WAITS = (int(Wait.TIME), int(Wait.FUTEX))
_MAY_HAVE_STEPPED = (State.PARKED, State.RUNNING)


def stepped(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> None:
    """[digest, bytes]: the speaker has the turn; a struct simunix_handoff for each of its siblings of which there is news.

    Before that, the journal tells of other processes.
    """
    digest, blob = arguments
    if len(blob) % ffi.sizeof("struct simunix_handoff"):
        raise ValueError(f"{len(blob)} bytes of steps")
    news = ffi.from_buffer("struct simunix_handoff[]", blob)
    if any(kernel.slots[entry.slot].process is not actor.process for entry in news):
        raise ValueError("steps of another process")
    if len({entry.slot for entry in news}) < len(news):
        raise ValueError("steps that do not fit together")
    catch_up(kernel, actor, news)
    kernel.log.handed_off(digest)
    kernel.handed_to = actor


def catch_up(kernel: Kernel, runner: Actor, news: Sequence[Any] = ()) -> None:
    """Believe what the journal says, then the news of the runner's process. Raises ValueError or KeyError if it cannot be."""
    latest: dict[int, Any] = {}
    for entry in (*_journal(kernel), *news):  # of each the last; in the order in which they began to wait
        latest.pop(entry.slot, None)
        latest[entry.slot] = entry
    latest.pop(runner.slot, None)
    passed = [kernel.slots[slot] for slot in latest]
    if any(actor.state not in _MAY_HAVE_STEPPED for actor in (runner, *passed)):
        raise ValueError("somebody has had a turn that was not its own")
    if all(actor.state is not State.RUNNING for actor in (runner, *passed)):
        raise ValueError("a turn that was handed on and kept")
    kernel.unpark(runner)
    others = [
        (actor, entry) for actor, entry in zip(passed, latest.values(), strict=True) if not _goes_on(kernel, actor, entry)
    ]
    for actor, _ in others:
        kernel.unpark(actor)
    for actor, entry in others:
        _begin(kernel, actor, entry)
    runner.state, runner.answer_at_slot = State.RUNNING, False
    kernel.page.words[RUNNING] = kernel.page.words[SIBLINGS_READY] = 0


def _journal(kernel: Kernel) -> list[Any]:
    """What is in it, which is empty after that."""
    timer_queue = lib.timer_queue_of(kernel.page.shared)
    count, timer_queue.journal_count = min(timer_queue.journal_count, JOURNAL_MAX), 0
    return [timer_queue.journal[place] for place in range(count)]


def _goes_on(kernel: Kernel, actor: Actor, entry: Any) -> bool:
    """Most tick: they wait for the same as before, alone there, only until later."""
    parked = actor.parked
    if entry.is_ready or parked is None or not parked.siblings_may_wake or actor.state is not State.PARKED:
        return False
    if (parked.wait, parked.b, parked.c) != (entry.wait, entry.word, entry.bitset) or entry.deadline < 0:
        return False
    if not isinstance(actor.timeout, Alarm) or (parked.wait == Wait.FUTEX and not kernel.futexes.is_alone(actor)):
        return False
    parked.syscall, parked.deadline_ns, parked.blocked, parked.since_ns = (
        entry.syscall,
        entry.deadline,
        entry.blocked,
        kernel.now_ns,
    )
    return True


def _begin(kernel: Kernel, actor: Actor, entry: Any) -> None:
    """It waits, or is ready because its wait has ended."""
    actor.answer_at_slot = True
    if entry.is_ready:
        actor.reply = (entry.wake, 0)
        kernel.make_ready(actor)
        return
    if entry.wait not in _WAITS:
        raise ValueError(f"wait {entry.wait}: nothing that others end")
    wait = (entry.wait, entry.syscall, entry.deadline, entry.blocked, 0, entry.word, entry.bitset)
    kernel.park(actor, Parked(*wait, kernel.now_ns, True), is_in_timer_queue=True)


HANDLERS: dict[int, Handler] = {int(Op.HANDED_OFF): Handler("ib", stepped)}
