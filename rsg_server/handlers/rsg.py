"""RSG: the operations of programs that name the simulation (Remote SimGrid)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import Handler, Reply
from rsg_server.protocol import WAKE_READY, Op
from rsg_server.rsg.operations.table import operate

if TYPE_CHECKING:
    from rsg_server.handlers.needs import RsgKernel
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process


def rsg(kernel: RsgKernel, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
    """[operation, blocked signals, request] -> [wake, status, answer], sent at once or when the operation is done."""
    operation, blocked, request = arguments
    if not actor.process.has_boxes:
        _give_boxes(kernel, actor.process)
    told = operate(kernel.rsg, actor, operation, blocked, request)
    return None if told is None else Reply((WAKE_READY, int(told[0]), told[1]))


def _give_boxes(kernel: RsgKernel, process: Process) -> None:
    """From its next operation on the threads of a process may use their boxes; what former owners left there is forgotten."""
    process.has_boxes = kernel.shared.boxes.open()
    for thread in process.actors if process.has_boxes else ():
        kernel.shared.boxes.clear(thread.slot)


HANDLERS: dict[int, Handler] = {int(Op.RSG): Handler("iib", rsg)}
