"""Opens and writes the files that contain the traces of system calls (strace)."""

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
    """Handles TRACE and TRACE_TEXT."""

    def __init__(self, traces: Traces | None) -> None:
        self._traces = traces

    def table(self) -> dict[int, Handler]:
        """Return the handlers, by operation."""
        return handled({Op.TRACE: self.trace, Op.TRACE_TEXT: self.trace_text})

    def trace(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[] -> [0] + fd of the file for the calls of the sending thread; -ENOENT if nothing is traced."""
        descriptor = self._traces.open(actor) if self._traces is not None else -errno.ENOENT
        return Reply(fds=(descriptor,)) if descriptor >= 0 else failed(-descriptor)

    def trace_text(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[bytes] -> [0]: append text to the sender's trace, for a process that may not write there itself."""
        if self._traces is not None:
            self._traces.write(actor, arguments[0])
        return Reply()
