"""Handles deaths of processes, one after the other: all consequences of one death come before the next death."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rsg_server.process import native_signal
from rsg_server.process.life.orphans import awaited, with_members
from rsg_server.process.life.relatives import leave_cpu_time
from rsg_server.process.life.zombies import Zombie
from rsg_server.process.process import Process

if TYPE_CHECKING:
    from rsg_server.process.life.endings import Endings
    from rsg_server.process.life.relatives import Relatives
    from rsg_server.process.life.remains import Remains
    from rsg_server.process.life.threads import Threads
    from rsg_server.process.tracees import Tracees


class Deaths:
    """Ends processes, and removes those that have died."""

    def __init__(self, threads: Threads, endings: Endings, remains: Remains, relatives: Relatives, tracees: Tracees) -> None:
        self._threads, self._endings, self._remains = threads, endings, remains
        self._relatives, self._tracees = relatives, tracees
        self.held: list[tuple[Process, list[Zombie]]] = []
        """Each first process (pid 1) of a PID namespace that can end only when parents outside have waited for dead
        members of the namespace.
        """

    def kill(self, process: Process) -> None:
        """Kill a process that has sent a message which no shim sends, and wait for its end."""
        if process.pidfd >= 0:
            native_signal.send(process.pidfd, signal.SIGKILL)
        self.await_death(process)

    def met_dead(self, process: Process, in_turn: bool = False) -> None:
        """Handle the death of a process that did not announce its end; record it if nobody in the emulation has killed it."""
        self._endings.look_for_killer(process, in_turn)
        self.await_death(process)

    def await_death(self, process: Process) -> None:
        """Wait until the kernel has ended a process that is certain to die, then remove it."""
        if process.dead:
            return
        if process.reaper is process:
            self._end_all([process])
        else:
            self._endings.await_end(process)
            self.reap(process)

    def await_deaths(self, processes: Sequence[Process]) -> None:
        """Wait until the kernel has ended the processes that a SIGKILL has reached, then remove them in this order.

        So /proc shows the same states of these processes in every run.
        """
        self._end_all([process for process in processes if not process.dead and process.is_dying()])

    def _end_all(self, dying: Sequence[Process]) -> None:
        all_dying = with_members(dying)
        held: dict[Process, list[Zombie]] = {}
        for process in all_dying:
            left = awaited(process, all_dying) if process.reaper is process else []
            if left:
                held[process] = left
            else:
                self._endings.await_end(process)
        for process in all_dying:
            if process in held:
                self._hold(process, held[process])
            else:
                self.reap(process)

    def _hold(self, reaper: Process, left: list[Zombie]) -> None:
        """End the threads of the first process of a PID namespace, and keep the process until `end_held` finds that it
        can end.
        """
        for actor in list(reaper.actors):
            self._threads.end(actor)
        self.held.append((reaper, left))

    def end_held(self) -> None:
        """End those processes, kept by `_hold`, that have ended for the kernel.

        The turn loop calls this method between two turns.
        """
        for item in list(self.held):
            reaper, left = item
            left[:] = [zombie for zombie in left if zombie.may_exist()]
            if reaper.dead or not left:
                self.held.remove(item)
                if not reaper.dead:
                    self._endings.await_end(reaper)
                    self.reap(reaper)

    def reap(self, process: Process) -> None:
        """Free what the server keeps of a dead process, and inform its relatives."""
        if process.dead:
            return
        process.dead = True
        self._endings.learn(process)
        self._remains.release(process)
        self._endings.log(process)
        leave_cpu_time(process)
        for tracee in self._tracees.tracer_ended(process):
            self.kill(tracee)
        self._relatives.tell_parent(process)
        self.await_deaths(self._relatives.orphan(process))
        self._relatives.hang_up(process)
        self.await_deaths(process.take_doomed())
