"""Message handlers, one file per system-call family, as the folders of csrc/shim/sys are.

A handler takes (kernel, actor, arguments) and returns the reply, or None when the actor has given the turn back.
"""

from rsg_server.handlers import (
    futex,
    handoff,
    host,
    identity,
    interfaces,
    machines,
    mqueue,
    power,
    process,
    ptrace,
    rsg,
    signals,
    sockets,
    timers,
    trace,
    wait,
)
from rsg_server.handlers.kernel_objects import cgroups, devices, system_bus
from rsg_server.handlers.table import Handler

HANDLERS: dict[int, Handler] = {
    **process.HANDLERS,
    **ptrace.HANDLERS,
    **wait.HANDLERS,
    **handoff.HANDLERS,
    **futex.HANDLERS,
    **signals.HANDLERS,
    **timers.HANDLERS,
    **mqueue.HANDLERS,
    **identity.HANDLERS,
    **host.HANDLERS,
    **power.HANDLERS,
    **cgroups.HANDLERS,
    **devices.HANDLERS,
    **sockets.HANDLERS,
    **interfaces.HANDLERS,
    **machines.HANDLERS,
    **system_bus.HANDLERS,
    **trace.HANDLERS,
    **rsg.HANDLERS,
}
