"""Handles ptrace(2) between emulated processes: the requests of tracers, and the stops of the threads that they trace.

rsg_server/process/tracees.py has the state of traced threads.
"""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.process import native_signal
from rsg_server.process.tracees import OPTIONS, Tracee, Tracees
from rsg_server.protocol import PTRACE_STOPPED_BY_SIGNAL, Op, Resume, Stop

if TYPE_CHECKING:
    from rsg_server.handlers.signals import SignalEffects
    from rsg_server.process.actor import Actor
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.process.process import Process

_TRACEME, _KILL, _ATTACH = 0, 8, 16
_RESUMES = {7: 0, 9: int(Resume.STEP), 24: int(Resume.SYSCALL)}
"""PTRACE_CONT, PTRACE_SINGLESTEP and PTRACE_SYSCALL, each with the flags that say how the thread goes on after it."""
_DETACH, _SET_OPTIONS = 17, 0x4200
_SHIM_ANSWERS = {1, 2, 3, 4, 5, 6, 12, 13, 14, 15, 30, 0x4201, 0x4202, 0x4203, 0x4204, 0x4205}
"""The requests of ptrace(2) about words of memory, registers, siginfo and the event's message.

The server only checks these. The tracer's shim carries them out itself, in the memory where the thread has stopped.
"""
_STATUS_UID = "Uid"


def _may_trace(tracer: Process, target: Process) -> bool:
    """Return whether a process may trace another: it is root, or the other runs under its user only (ptrace(2),
    credentials).
    """
    own = tracer.status_fields().get(_STATUS_UID, "").split()
    others = target.status_fields().get(_STATUS_UID, "").split()
    return bool(own and others) and (own[1] == "0" or set(others[:3]) == {own[3]})


def _thread(actor: Actor, tid: int) -> Actor | None:
    """Return the thread with a number on the caller's host; None if there is none."""
    main = actor.process.host.processes.get(tid)
    if main is not None:
        return next((other for other in main.actors if other.tid == tid), None)
    others = (other for process in actor.process.host.processes.values() for other in process.actors)
    return next((other for other in others if other.tid == tid), None)


class TraceeHandlers:
    """Handles PTRACE, and the messages with which a traced thread stops."""

    def __init__(self, tracees: Tracees, deaths: Deaths, effects: SignalEffects) -> None:
        self._tracees, self._deaths, self._effects = tracees, deaths, effects
        self._requests: dict[int, Callable[[Tracee, int, int], Reply]] = {
            **dict.fromkeys(_RESUMES, self._resume),
            _DETACH: self._detach,
            _KILL: self._kill,
            _SET_OPTIONS: self._set_options,
        }

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.PTRACE: self.ptrace,
                Op.TRACEE_STOPS: self.stops,
                Op.TRACEE_LOOK: self.look,
                Op.TRACEE_WAIT: self.wait,
            }
        )

    def ptrace(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Carry out a tracer's request of ptrace(2).

        [request, tid, data] -> [0 or -errno, address of the stop, pid, event message].
        """
        request, tid, data = arguments
        if request == _TRACEME:
            return self._trace_me(actor)
        target = _thread(actor, tid)
        if target is None:
            return failed(errno.ESRCH)
        tracee = self._tracees.all.get(target)
        if request == PTRACE_STOPPED_BY_SIGNAL:
            return self._stop_by_signal(target)
        if request == _ATTACH:
            return self._attach(actor, target)
        if tracee is None or tracee.tracer is not actor.process or (tracee.status == 0 and request != _KILL):
            return failed(errno.ESRCH)
        if request in _SHIM_ANSWERS:
            return Reply((0, tracee.address, target.process.pid, tracee.message))
        run = self._requests.get(request)
        return run(tracee, request, data) if run is not None else failed(errno.EIO)

    def _trace_me(self, actor: Actor) -> Reply:
        parent = actor.process.parent
        if actor in self._tracees.all or parent is None or parent.dead:
            return failed(errno.EPERM)
        self._tracees.attach(actor, parent)
        return OK

    def _attach(self, actor: Actor, target: Actor) -> Reply:
        if target in self._tracees.all or target.process is actor.process or not _may_trace(actor.process, target.process):
            return failed(errno.EPERM)
        self._tracees.demand_stop(self._tracees.attach(target, actor.process))
        return OK

    def _stop_by_signal(self, target: Actor) -> Reply:
        """Stop one thread of the target's process for its tracer by a SIGSTOP: `target` itself if it is traced.

        The reply is -ESRCH if no thread of the process is traced; then the kernel stops the process.
        """
        for actor in (target, *target.process.actors):
            if actor in self._tracees.all:
                self._tracees.demand_stop(self._tracees.all[actor], by_signal=True)
                return OK
        return failed(errno.ESRCH)

    def _resume(self, tracee: Tracee, request: int, number: int) -> Reply:
        if not 0 <= number <= 64:
            return failed(errno.EIO)
        self._tracees.resume(tracee, _RESUMES[request] | number)
        return OK

    def _detach(self, tracee: Tracee, request: int, number: int) -> Reply:
        if not 0 <= number <= 64:
            return failed(errno.EIO)
        process = tracee.actor.process
        if self._tracees.detach(tracee, number):
            native_signal.send(process.pidfd, signal.SIGSTOP)
            self._effects.take_effect(process, signal.SIGSTOP)
        return OK

    def _kill(self, tracee: Tracee, request: int, number: int) -> Reply:
        self._deaths.kill(tracee.actor.process)
        return OK

    def _set_options(self, tracee: Tracee, request: int, options: int) -> Reply:
        if options & ~OPTIONS:
            return failed(errno.EINVAL)
        tracee.options = options
        return OK

    def stops(self, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
        """Stop the caller, which is traced, until its tracer lets it go on.

        [a value of enum simunix_stop, value, event message, address of the stop] -> [0, bits of enum simunix_resume],
        sent when the tracer lets it go on.
        """
        kind, value, message, address = arguments
        how = self._tracees.stop(actor, Stop(kind), value, message, address)
        return Reply((0, how)) if how is not None else None

    def look(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Say whether the caller must stop for its tracer.

        [] -> [0, 1 if it must stop, else 0].
        """
        return Reply((0, int(self._tracees.looks(actor))))

    def wait(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Return a stop or an end of a thread that the caller traces, as wait4(2) does.

        [pid, options] -> [tid, status]; 0 if there is none yet; -ECHILD if the caller traces no such thread.
        """
        return Reply(self._tracees.wait(actor.process, arguments[0]))
