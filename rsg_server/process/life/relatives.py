"""Handles what the death of a process changes for its parent, its children and their process groups."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from rsg_server.process.life.orphans import hang_up_orphans, reparent

if TYPE_CHECKING:
    from rsg_server.process.futex import FutexTable
    from rsg_server.process.life.vforks import Vforks
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals
    from rsg_server.shared.clock import Clock


class Relatives:
    """Informs the relatives of a dead process, the parent first."""

    def __init__(self, clock: Clock, signals: Signals, futexes: FutexTable, vforks: Vforks) -> None:
        self._clock, self._signals, self._futexes, self._vforks = clock, signals, futexes, vforks

    def tell_parent(self, process: Process) -> None:
        """Wake the actors that wait for the end of a process: those of its parent, and those that wait for locks which
        the process may have held.
        """
        self._vforks.release(process)
        self._futexes.wake_shared()
        parent = process.parent
        if parent is not None and not parent.dead:
            parent.children.remove(process)
            self._signals.child_changed(parent)

    def orphan(self, process: Process) -> list[Process]:
        """Give the children of a dead process their new parents. Return those that this death may have killed."""
        for child in process.children:
            child.orphaned_ns = self._clock.now_ns
            reparent(child)
            # A signal that was asked for by prctl(2) PR_SET_PDEATHSIG may have been sent, so all threads look for it.
            self._signals.notice(child, signal.SIGTERM, every_thread=True)
        return [child for child in process.children if child.pidfd >= 0]  # the signal of PR_SET_PDEATHSIG may have been SIGKILL

    def hang_up(self, process: Process) -> None:
        """Give turns again to the processes of an orphaned process group that the kernel has continued, and tell the
        observers that a process has ended.
        """
        hang_up_orphans(self._signals, process.host)
        process.on_exit.tell(process)


def leave_cpu_time(process: Process) -> None:
    """Add the CPU time of a dead process, and that of its dead children, to the CPU time of its parent's dead children."""
    parent, total_ns = process.parent, process.cpu_ns + process.children_cpu_ns
    if parent is not None and total_ns:
        parent.children_cpu_ns += total_ns
        parent.dead_children_ns[process.pid] = total_ns
