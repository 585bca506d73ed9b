"""PTRACE: the requests of tracers, and the stops of the threads that they trace (rsg_server/process/tracees.py)."""

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
"""PTRACE_CONT, SINGLESTEP and SYSCALL, and how the thread goes on after each."""
_DETACH, _SET_OPTIONS = 17, 0x4200
_SHIM_ANSWERS = {1, 2, 3, 4, 5, 6, 12, 13, 14, 15, 30, 0x4201, 0x4202, 0x4203, 0x4204, 0x4205}
"""Requests about memory words, registers, siginfo and the event's message.

The tracer's shim carries these out itself, at the place where the thread has stopped."""
_STATUS_UID = "Uid"


def _may_trace(tracer: Process, target: Process) -> bool:
    """Whether the tracer is root, or the target runs under the tracer's user only (ptrace(2), credentials)."""
    own = tracer.status_fields().get(_STATUS_UID, "").split()
    others = target.status_fields().get(_STATUS_UID, "").split()
    return bool(own and others) and (own[1] == "0" or set(others[:3]) == {own[3]})


def _thread(actor: Actor, tid: int) -> Actor | None:
    """Return the thread of the caller's host that has this number."""
    main = actor.process.host.processes.get(tid)
    if main is not None:
        return next((other for other in main.actors if other.tid == tid), None)
    others = (other for process in actor.process.host.processes.values() for other in process.actors)
    return next((other for other in others if other.tid == tid), None)


class TraceeHandlers:
    """Handles PTRACE and the stops of traced threads."""

    def __init__(self, tracees: Tracees, deaths: Deaths, effects: SignalEffects) -> None:
        self._tracees, self._deaths, self._effects = tracees, deaths, effects
        self._requests: dict[int, Callable[[Tracee, int, int], Reply]] = {
            **dict.fromkeys(_RESUMES, self._resume),
            _DETACH: self._detach,
            _KILL: self._kill,
            _SET_OPTIONS: self._set_options,
        }

    def table(self) -> dict[int, Handler]:
        """Return the handlers, by operation."""
        return handled(
            {
                Op.PTRACE: self.ptrace,
                Op.TRACEE_STOPS: self.stops,
                Op.TRACEE_LOOK: self.look,
                Op.TRACEE_WAIT: self.wait,
            }
        )

    def ptrace(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[request, tid, data] -> [0 | -errno, address of the stop, pid, event message]: carry out a request of a tracer."""
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
        """Stop one thread of the target's process for its tracer by a SIGSTOP, `target` itself if it is traced.

        ESRCH if no thread of the process is traced: then the kernel stops the process.
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
        """[kind, value, event message, address] -> [0, how it goes on]: stop the caller until its tracer lets it go on."""
        kind, value, message, address = arguments
        how = self._tracees.stop(actor, Stop(kind), value, message, address)
        return Reply((0, how)) if how is not None else None

    def look(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[] -> [0, 1 if the caller must stop for its tracer]."""
        return Reply((0, int(self._tracees.looks(actor))))

    def wait(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[pid, options] -> [tid, status] of a traced thread; 0 if there is no news; -ECHILD if the caller traces none."""
        return Reply(self._tracees.wait(actor.process, arguments[0]))
