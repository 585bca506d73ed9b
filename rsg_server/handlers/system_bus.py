"""BUS: the system bus of the sender's host, which is started when somebody first connects to it."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, failed
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.handlers.needs import BusKernel
    from rsg_server.process.actor import Actor


def bus(kernel: BusKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[] -> [0]; -ENOENT if there is to be no bus. The bus listens once it has had a turn."""
    return OK if kernel.buses.ensure(actor.process.host) else failed(errno.ENOENT)


HANDLERS: dict[int, Handler] = {int(Op.BUS): Handler("", bus)}
