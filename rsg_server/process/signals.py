"""Chooses the thread that looks for a signal, and changes the run queue when processes are stopped and continued.

The real kernel stores the pending signals. A waiting thread blocks all signals, so a signal takes effect only when the
server gives a turn to a thread to look for it. So the order in which signals act is the order of turns, which the
server decides.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Final

from rsg_server.observers import Observers
from rsg_server.process import native_signal
from rsg_server.process.actor import State
from rsg_server.process.process import Process
from rsg_server.protocol import Wake, syscall_name

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu import Cpu
    from rsg_server.process.parking import Parking

_WAS_STOPPED: Final = 1
"""SIMUNIX_WAS_STOPPED of csrc/shared/protocol.h: the value of a wake by which a call fails with EINTR."""
_ENDED_BY_STOP: Final = frozenset(
    ("epoll_pwait", "epoll_pwait2", "epoll_wait", "rt_sigtimedwait", "semop", "semtimedop"),
)
"""Calls that fail with EINTR after their process was stopped and continued, although no handler has run: signal(7)."""
_ENDED_BY_STOP_IF_TIMED: Final = frozenset(
    ("accept", "accept4", "read", "readv", "recvfrom", "recvmsg", "sendmsg", "sendto", "write", "writev"),
)
"""Calls that do so on a socket with SO_RCVTIMEO or SO_SNDTIMEO, of which their wait has its deadline."""


class Signals:
    """Wakes actors (threads) for signals.

    `listeners` are the processes, by number, to which the kernel may send its own signals.
    """

    def __init__(self, parking: Parking, cpu: Cpu) -> None:
        self._parking, self._cpu = parking, cpu
        self.listeners: dict[int, Process] = {}
        self.is_at_terminal = False  # whether a terminal may send signals and pass characters on, by a work queue of the kernel
        # observers are called at each signal: a spinning thread may be waiting for the effect of the signal's handler
        self.on_notice: Observers[[]] = Observers()
        self.by_server = 0  # the mask of the signals that the server has sent, which programs take for signals of a user

    def send(self, process: Process, number: int) -> None:
        """Send a process a signal from the server.

        The caller then calls `notice`, which wakes the thread that takes the signal.
        """
        self.by_server |= 1 << (number - 1)
        native_signal.send(process.pidfd, number)

    def notice(self, process: Process, number: int, tid: int = 0, every_thread: bool = False) -> None:
        """Wake the first waiting thread that may take a signal, which was sent to a process or to its thread `tid`.

        As in Linux, the main thread is preferred, then the other threads in the order of their birth.
        """
        self.on_notice.tell()
        bit = 1 << (number - 1)
        process.told |= bit
        for actor in list(process.actors):
            parked = actor.parked
            if actor.state is not State.PARKED or parked is None or (tid and actor.tid != tid):
                continue
            if parked.takes(bit, every_thread):
                self._parking.wake(actor, Wake.SIGNAL)
                if not every_thread:
                    return

    def listen_to_kernel(self, process: Process, is_at_terminal: bool) -> None:
        """Begin to look for signals that the kernel itself sends to a process (from terminals, for O_ASYNC files)."""
        process.hears_kernel = True
        self.listeners[process.number] = process
        self.is_at_terminal = self.is_at_terminal or is_at_terminal

    def look(self) -> None:
        """Wake threads for signals that the kernel itself may have sent since the last look."""
        for number in sorted(self.listeners):
            process = self.listeners[number]
            if process.pidfd >= 0 and not process.dead:
                for signal_number in process.new_pending():
                    self.notice(process, signal_number)

    def stop(self, process: Process) -> None:
        """Remove the actors of a process that the kernel has stopped from the run queue until the process is continued."""
        native_signal.await_rests(process.global_pid)
        # set first, so that no later line of this function makes an actor of the process ready for a turn
        was_held, process.stopped = process.is_held, True
        if not was_held:
            self._hold(process)
        for actor in process.actors:
            self._end_by_stop(actor)
        if process.parent is not None:
            self.child_changed(process.parent)

    def _end_by_stop(self, actor: Actor) -> None:
        """End the wait of an actor whose call fails with EINTR because of the stop; the actor sees it when it goes on."""
        parked = actor.parked
        if actor.state is not State.PARKED or parked is None:
            return
        name = syscall_name(parked.syscall)
        if name in _ENDED_BY_STOP or (name in _ENDED_BY_STOP_IF_TIMED and parked.deadline_ns >= 0):
            self._parking.wake(actor, Wake.SIGNAL, _WAS_STOPPED)

    def _hold(self, process: Process) -> None:
        """Remove the actors of a process that is stopped or frozen now from the run queue."""
        for actor in process.actors:
            # the process, which is stopped now, may have kept the deadline in the timer queue
            self._parking.keep_deadline(actor)
        self._cpu.pause(process.actors)
        for actor in self._parking.run_queue.stop(process):
            self._parking.wake(actor, Wake.READY)  # when the process is continued, the actor looks at what it was nominated for

    def resume(self, process: Process) -> None:
        """Put the ready threads of a process back into the run queue, in the order of their birth: SIGCONT has continued it."""
        if not process.stopped:
            return
        process.stopped = False
        if not process.is_held:
            self._let_go(process)
        if process.parent is not None:
            self.child_changed(process.parent)

    def _let_go(self, process: Process) -> None:
        self._cpu.resume(process.actors)
        self._parking.run_queue.resume(process)

    def freeze(self, process: Process) -> None:
        """Let no actor of a process have a turn until the process's cgroup is thawed."""
        was_held, process.frozen = process.is_held, True
        if not was_held:
            self._hold(process)

    def thaw(self, process: Process) -> None:
        """Add the ready actors of a process whose cgroup is thawed to the run queue, unless a signal has stopped the
        process.
        """
        if process.frozen:
            process.frozen = False
            if not process.is_held:
                self._let_go(process)

    def child_changed(self, parent: Process) -> None:
        """Wake the actors of `parent` that wait in wait(2), and those that take SIGCHLD: a child has died, stopped or
        gone on.
        """
        for actor in parent.actors:
            if actor.parked is not None and actor.parked.is_for_children():
                self._parking.wake(actor, Wake.READY)
        self.notice(parent, signal.SIGCHLD)
