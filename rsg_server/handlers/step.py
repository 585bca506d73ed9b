"""STEPPED: a process has handed the turn on among its own threads; the server learns who waits for what now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server._native import ffi
from rsg_server.actor import Actor, Parked, State
from rsg_server.clock_page import RUNNING, SIBLINGS_READY
from rsg_server.handlers.table import Handler
from rsg_server.protocol import Op, Wait

if TYPE_CHECKING:
    from rsg_server.kernel import Kernel

_WAITS = (int(Wait.TIME), int(Wait.FUTEX))


def stepped(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> None:
    """[slot, digest, bytes]: whose turn it is, and a struct simunix_stepped for each of those that it has passed meanwhile."""
    slot, digest, blob = arguments
    runner = _sibling(kernel, actor, slot)
    if len(blob) % ffi.sizeof("struct simunix_stepped"):
        raise ValueError(f"{len(blob)} bytes of steps")
    news = ffi.from_buffer("struct simunix_stepped[]", blob)
    passed = [_sibling(kernel, actor, entry.slot) for entry in news]
    if len({runner.number, *(other.number for other in passed)}) <= len(passed):
        raise ValueError("steps that do not fit together")
    if runner is not actor and actor not in passed:
        raise ValueError("a turn that was handed on and kept")
    for other in (runner, *passed):
        if other is not actor and other.state is not State.PARKED:
            raise ValueError(f"{other!r} has had a turn that was not its own")
        kernel.unpark(other)
    for entry, other in zip(news, passed, strict=True):
        _go_on(kernel, other, entry)
    runner.state, runner.answer_at_slot = State.RUNNING, False
    kernel.page.words[RUNNING] = kernel.page.words[SIBLINGS_READY] = 0
    kernel.log.steps(digest)
    kernel.stepped_to = runner


def _sibling(kernel: Kernel, actor: Actor, slot: int) -> Actor:
    other = kernel.slots[slot]
    if other.process is not actor.process:
        raise ValueError(f"slot {slot} is another process's")
    return other


def _go_on(kernel: Kernel, actor: Actor, entry: Any) -> None:
    """It waits, or is ready because its wait has ended."""
    actor.answer_at_slot = True
    if entry.is_ready:
        actor.reply = (entry.wake, 0)
        kernel.make_ready(actor)
        return
    if entry.wait not in _WAITS:
        raise ValueError(f"wait {entry.wait}: nothing that siblings end")
    wait = (entry.wait, entry.syscall, entry.deadline, entry.blocked, 0, entry.word, entry.bitset)
    kernel.park(actor, Parked(*wait, kernel.now_ns, True))


HANDLERS: dict[int, Handler] = {int(Op.STEPPED): Handler("iib", stepped)}
