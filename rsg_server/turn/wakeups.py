"""Asks the kernel between two turns what has become ready, and wakes in the order of the server's own numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.clock.clock_page import MAY_HAVE_WOKEN
from rsg_server.process.actor import Actor
from rsg_server.process.process import Process
from rsg_server.process.terminals import flush_waited
from rsg_server.protocol import WAIT_FD, WAKE_READY
from rsg_server.sockets.pair import SimulatedSocket

if TYPE_CHECKING:
    from rsg_server.turn.needs import WakeupKernel


def wake_ready(kernel: WakeupKernel) -> None:
    """Wake actors whose descriptors are ready, serve sockets and reap processes, until that makes nothing more ready."""
    again = True
    while again:
        again = False
        kernel.readiness.may_have_changed = False
        flush_waited(kernel.at_terminals)
        kernel.signals.look()
        kernel.page.words[MAY_HAVE_WOKEN] = 0
        news = kernel.readiness.news()
        if not news:
            return
        for target, events in news:
            if isinstance(target, Actor):
                if target.parked is not None and target.parked.wait == WAIT_FD:
                    kernel.wake(target, WAKE_READY)
            elif isinstance(target, SimulatedSocket):
                kernel.sockets.ready(target, events)
            elif isinstance(target, Process) and not target.dead:
                kernel.lifecycle.met_dead(target)
                again = True
        again = again or kernel.readiness.may_have_changed
