"""POSIX message queues with a signal (mq_notify(3)): the kernel sends it, and the server wakes the thread that may take it."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, failed
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.handlers.needs import QueueKernel
    from rsg_server.process.actor import Actor

SIGNAL_MAX = 64


def notify(kernel: QueueKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[queue, signal] -> [0]; the kernel has registered the process already, and allows one process per queue."""
    queue, signal = arguments
    if not 0 <= signal <= SIGNAL_MAX:
        return failed(errno.EINVAL)
    kernel.queue_notifies.pop(queue, None)
    if signal:
        kernel.queue_notifies[queue] = (actor.process, signal)
    _tell_shims(kernel)
    return OK


def sent(kernel: QueueKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[queue] -> [0]: a message was sent; the kernel sends a signal only if the queue was empty; a vain look is harmless."""
    process, signal = kernel.queue_notifies.get(arguments[0], (None, 0))
    if process is None or process.dead:
        kernel.queue_notifies.pop(arguments[0], None)
    else:
        kernel.signals.notice(process, signal)
    _tell_shims(kernel)
    return OK


def _tell_shims(kernel: QueueKernel) -> None:
    """Have the shims report the messages that they send, as long as some queue has a signal."""
    kernel.shared.notices.tell_queue_notifies(len(kernel.queue_notifies))


HANDLERS: dict[int, Handler] = {
    int(Op.QUEUE_NOTIFY): Handler("ii", notify),
    int(Op.QUEUE_SENT): Handler("i", sent),
}
