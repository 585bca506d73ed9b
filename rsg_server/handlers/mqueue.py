"""Handles the signals of POSIX message queues (mq_notify(3)): the kernel sends the signal, the server wakes its receiver."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals
    from rsg_server.shared.notices import Notices

SIGNAL_MAX = 64


class QueueHandlers:
    """Handles QUEUE_NOTIFY and QUEUE_SENT: records which process wants a signal from a queue, and which signal."""

    def __init__(self, signals: Signals, notices: Notices) -> None:
        self._signals, self._notices = signals, notices
        self._notifies: dict[int, tuple[Process, int]] = {}

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.QUEUE_NOTIFY: self.notify,
                Op.QUEUE_SENT: self.sent,
            }
        )

    def notify(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Note that the caller's process wants a signal from a message queue; the kernel allows one process per queue.

        [number of the queue, signal] -> [0].
        """
        queue, signal = arguments
        if not 0 <= signal <= SIGNAL_MAX:
            return failed(errno.EINVAL)
        self._notifies.pop(queue, None)
        if signal:
            self._notifies[queue] = (actor.process, signal)
        self._tell_shims()
        return OK

    def sent(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """After a message was sent to a queue, let the queue's signal take effect, if the kernel has sent one.

        [number of the queue] -> [0]. The kernel sends the signal only if the queue was empty before. Looking for a
        signal that was not sent does no harm.
        """
        process, signal = self._notifies.get(arguments[0], (None, 0))
        if process is None or process.dead:
            self._notifies.pop(arguments[0], None)
        else:
            self._signals.notice(process, signal)
        self._tell_shims()
        return OK

    def _tell_shims(self) -> None:
        """Ask the shims to report each message that they send to a queue, as long as a process wants a signal from some
        queue.
        """
        self._notices.tell_queue_notifies(len(self._notifies))
