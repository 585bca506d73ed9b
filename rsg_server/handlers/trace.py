"""Handles TRACE and TRACE_TEXT: opens and writes the files that contain traces of system calls (--strace)."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import Handler, Reply, failed, handled
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.diagnosis.traces import Traces
    from rsg_server.process.actor import Actor


class TraceHandlers:
    """Handles TRACE and TRACE_TEXT, about the trace of the sending thread's system calls."""

    def __init__(self, traces: Traces | None) -> None:
        self._traces = traces

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled({Op.TRACE: self.trace, Op.TRACE_TEXT: self.trace_text})

    def trace(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Open the file for the trace of the sending thread.

        [] -> [0] + the file's descriptor; -ENOENT if the thread is not traced.
        """
        descriptor = self._traces.open(actor) if self._traces is not None else -errno.ENOENT
        return Reply(fds=(descriptor,)) if descriptor >= 0 else failed(-descriptor)

    def trace_text(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Append text to the sender's trace, for a process that may not write the file itself.

        [bytes] -> [0].
        """
        if self._traces is not None:
            self._traces.write(actor, arguments[0])
        return Reply()
