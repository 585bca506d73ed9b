"""POSIX message queues that were asked for a signal: the kernel sends it, and whoever may take it has to look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.clock.clock_page import QUEUE_NOTIFIES
from rsg_server.handlers.table import OK, Handler, Reply, failed
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.handlers.needs import QueueKernel
    from rsg_server.process.actor import Actor

EINVAL = 22
SIGNAL_MAX = 64


def notify(kernel: QueueKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[queue, signal] -> [0]; the kernel has registered it already, and allows one process per queue."""
    queue, signal = arguments
    if not 0 <= signal <= SIGNAL_MAX:
        return failed(EINVAL)
    kernel.queue_notifies.pop(queue, None)
    if signal:
        kernel.queue_notifies[queue] = (actor.process, signal)
    _tell_shims(kernel)
    return OK


def sent(kernel: QueueKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[queue] -> [0]; only the first message into an empty queue sends the signal, but to look once too often is harmless."""
    process, signal = kernel.queue_notifies.get(arguments[0], (None, 0))
    if process is None or process.dead:
        kernel.queue_notifies.pop(arguments[0], None)
    else:
        kernel.signals.notice(process, signal)
    _tell_shims(kernel)
    return OK


def _tell_shims(kernel: QueueKernel) -> None:
    kernel.page.words[QUEUE_NOTIFIES] = len(kernel.queue_notifies)


HANDLERS: dict[int, Handler] = {
    int(Op.QUEUE_NOTIFY): Handler("ii", notify),
    int(Op.QUEUE_SENT): Handler("i", sent),
}
