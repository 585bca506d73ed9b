"""The files into which the shims write their traces of system calls (strace)."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import Handler, Reply, failed
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.handlers.needs import TraceKernel
    from rsg_server.process.actor import Actor


def trace(kernel: TraceKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[] -> [0] + the file for the calls of the sender, a thread; -ENOENT if nothing is traced."""
    descriptor = kernel.traces.open(actor) if kernel.traces is not None else -errno.ENOENT
    return Reply(fds=(descriptor,)) if descriptor >= 0 else failed(-descriptor)


def trace_text(kernel: TraceKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[bytes] -> [0]; appends to the sender's trace, for a process that may not write there itself."""
    if kernel.traces is not None:
        kernel.traces.write(actor, arguments[0])
    return Reply()


HANDLERS: dict[int, Handler] = {int(Op.TRACE): Handler("", trace), int(Op.TRACE_TEXT): Handler("b", trace_text)}
