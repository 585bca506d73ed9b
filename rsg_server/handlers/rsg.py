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


def rsg(kernel: RsgKernel, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
    """[operation, blocked signals, request] -> [wake, status, answer], sent at once or when the operation is done."""
    operation, blocked, request = arguments
    told = operate(kernel.rsg, actor, operation, blocked, request)
    return None if told is None else Reply((WAKE_READY, int(told[0]), told[1]))


HANDLERS: dict[int, Handler] = {int(Op.RSG): Handler("iib", rsg)}
