"""ptrace(2) between emulated processes: which process traces which threads, which threads have stopped, and what
tracers are told.

The tracing of the real kernel is not used. A traced thread stops by itself, in its own turn (csrc/shim/turn/tracee.c):
it gives the turn back, and waits until its tracer lets it go on. A stop is reported in the order of turns, and SIGCHLD
is sent when the stop happens.
"""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rsg_server.process import native_signal
from rsg_server.process.actor import Actor
from rsg_server.process.wait import HAS_SIGNALFD, ActorWait
from rsg_server.protocol import NEVER, Resume, Stop, Wake

if TYPE_CHECKING:
    from rsg_server.event_log import EventLog
    from rsg_server.process.parking import Parking
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.shared.slots import AnswerSlots

_SYS_PTRACE = 101
_EVENT_EXEC, _EVENT_EXIT = 4, 6
_OPTION_SYSGOOD, _OPTION_EXITKILL = 1, 1 << 20
OPTIONS = 0xFF | _OPTION_EXITKILL
"""The options that PTRACE_SETOPTIONS accepts."""
_ALL_BLOCKED = ((1 << 64) - 1) & ~HAS_SIGNALFD
_STOPPED = 0x7F
"""The lower byte of the status that wait(2) returns for a stopped thread."""
_EXIT_CODE_PLACE = 51
"""The place of the exit code among the fields of /proc/PID/stat, counted from 0 (proc(5))."""


@dataclass(eq=False, slots=True)
class Tracee:
    """A traced thread. `status` is the wait(2) status of its present stop, 0 while it runs.

    `address` is where its registers lie in its memory while it is stopped.
    """

    actor: Actor
    tracer: Process
    options: int = 0
    status: int = 0
    address: int = 0
    message: int = 0
    resume: int = 0  # the flags with which the thread went on after its last stop
    must_stop: bool = False  # a SIGSTOP is on its way to the thread, or a tracer has attached to it
    was_sent_stop: bool = False  # a SIGSTOP is on its way that stops the whole process if no process traces the thread by then

    def tid(self, slots: AnswerSlots) -> int:
        """Return the number of the thread. Before its first turn, a new thread has its number in its slot."""
        actor = self.actor
        return slots.tid(actor.slot) if actor.is_new else actor.tid or actor.process.pid


@dataclass(frozen=True, slots=True)
class Report:
    """A report that wait4(2) will return to a tracer: a stop of a traced thread, or the end of a thread (then `tracee`
    is None).
    """

    process: Process
    tid: int
    status: int
    tracee: Tracee | None


class Tracees:
    """All traced threads, and what their tracers are told, in the order in which it happened.

    `make_wait` makes the wait of a thread that stops.
    """

    def __init__(
        self,
        shared: SharedMemory,
        log: EventLog,
        parking: Parking,
        signals: Signals,
        make_wait: Callable[[], ActorWait],
    ) -> None:
        self._clock, self._slots, self._notices = shared.clock, shared.slots, shared.notices
        self._log, self._parking, self._signals, self._make_wait = log, parking, signals, make_wait
        self.all: dict[Actor, Tracee] = {}
        self.reports: dict[Process, list[Report]] = {}

    def attach(self, actor: Actor, tracer: Process, options: int = 0) -> Tracee:
        """Make a process the tracer of a thread that no process traces, and return the traced thread."""
        tracee = self.all[actor] = Tracee(actor, tracer, options)
        self._count()
        return tracee

    def _count(self) -> None:
        """Tell the shims how many traced threads there are, and how many ends no tracer has asked for."""
        self._notices.tell_tracees(len(self.all) + sum(map(len, self.reports.values())))

    def demand_stop(self, tracee: Tracee, by_signal: bool = False) -> None:
        """Make a thread stop by a SIGSTOP. A waiting thread is given a turn in which it looks for the signal."""
        self._set_news(tracee, True)
        tracee.was_sent_stop |= by_signal
        if tracee.status == 0:
            self._parking.wake(tracee.actor, Wake.SIGNAL)

    def looks(self, actor: Actor) -> bool:
        """Return whether a thread that has asked must stop. With this answer the SIGSTOP counts as delivered."""
        tracee = self.all.get(actor)
        if tracee is None or not tracee.must_stop:
            return False
        self._set_news(tracee, False)
        return True

    def _set_news(self, tracee: Tracee, must_stop: bool) -> None:
        tracee.must_stop = must_stop
        tracee.was_sent_stop &= must_stop
        self._notices.tell_trace_news(sum(other.must_stop for other in self.all.values()))

    # Stops of threads

    def stop(self, actor: Actor, kind: int, value: int, message: int, address: int) -> int | None:
        """Let a thread that stops wait, and inform its tracer; return None.

        If the thread need not stop, return the flags with which it goes on.
        """
        tracee = self.all.get(actor)
        if tracee is None:
            return int(Resume.DETACHED) | (value if kind == Stop.SIGNAL else 0)
        status = _status(tracee.options, kind, value)
        if status == 0:
            return tracee.resume & (Resume.SYSCALL | Resume.STEP)
        tracee.status, tracee.message, tracee.address = status, message, address
        now_ns, wait = self._clock.now_ns, self._make_wait()
        wait.set_terms(_SYS_PTRACE, NEVER, _ALL_BLOCKED, now_ns, False)
        self._parking.park(actor, wait)
        process = actor.process
        self._log.event(now_ns, "trace_stop", host=process.host.name, pid=process.pid, tid=actor.tid, status=status)
        self._report(tracee.tracer, Report(process, tracee.tid(self._slots), status, tracee))
        return None

    def resume(self, tracee: Tracee, how: int) -> None:
        """Let a stopped thread go on."""
        if tracee.must_stop and not how & Resume.DETACHED:
            how |= Resume.STOPS_AGAIN
        self._set_news(tracee, False)
        self._withdraw(tracee)
        tracee.status, tracee.resume = 0, how
        if number := how & 0xFF:
            tracee.actor.process.told |= 1 << (number - 1)
        self._parking.wake(tracee.actor, Wake.READY, how)

    def detach(self, tracee: Tracee, number: int = 0) -> bool:
        """End the tracing of a thread. If it is stopped, it goes on with this signal.

        Return whether its process must be stopped.
        """
        stops = tracee.was_sent_stop or number == signal.SIGSTOP
        if tracee.status:
            self.resume(tracee, Resume.DETACHED | number)
        self._forget(tracee)
        return stops

    def _forget(self, tracee: Tracee) -> None:
        self._set_news(tracee, False)
        del self.all[tracee.actor]
        self._count()

    # Reports to tracers

    def _report(self, tracer: Process, report: Report) -> None:
        self.reports.setdefault(tracer, []).append(report)
        self._count()
        native_signal.send(tracer.pidfd, signal.SIGCHLD)
        self._signals.child_changed(tracer)

    def _withdraw(self, tracee: Tracee) -> None:
        reports = self.reports.get(tracee.tracer, [])
        reports[:] = [report for report in reports if report.tracee is not tracee]

    def wait(self, tracer: Process, pid: int) -> tuple[int, int]:
        """Return the first report about a thread that `pid` means in wait4(2), as (tid, status).

        (0, 0) if there is none yet; (-ECHILD, 0) if the process traces no such thread.
        """
        reports = self.reports.get(tracer, [])
        for report in reports:
            if _names(pid, tracer, report.process, report.tid):
                reports.remove(report)
                self._count()
                return report.tid, report.status
        waits = any(
            tracee.tracer is tracer and _names(pid, tracer, tracee.actor.process, tracee.tid(self._slots))
            for tracee in self.all.values()
        )
        return (0 if waits else -errno.ECHILD), 0

    # Births and deaths

    def born(self, creator: Actor, child: Actor, event: int) -> bool:
        """Make the tracer of a thread trace its new child or thread, too, if the tracer wants this event.

        Return whether it does.
        """
        tracee = self.all.get(creator)
        if tracee is None or not event or not tracee.options >> event & 1:
            return False
        self.attach(child, tracee.tracer, tracee.options)
        return True

    def ended(self, actor: Actor) -> None:
        """Report the end of a traced thread to its tracer, unless the tracer is the parent, to which the kernel reports it."""
        tracee = self.all.get(actor)
        if tracee is None:
            return
        process, tracer = actor.process, tracee.tracer
        self._withdraw(tracee)
        self._forget(tracee)
        is_last = process.dead and actor.tid == process.pid
        if tracer.dead or not actor.tid or (is_last and process.parent is tracer):
            return
        status = _wait_status(process) if process.dead else 0
        self._report(tracer, Report(process, actor.tid, status, None))

    def tracer_ended(self, tracer: Process) -> list[Process]:
        """End all tracing by a process that has ended. Return the processes that must die with it (PTRACE_O_EXITKILL)."""
        if not self.all and not self.reports:
            return []
        mine = [tracee for tracee in self.all.values() if tracee.tracer is tracer]
        for tracee in mine:
            self.detach(tracee)
        self.reports.pop(tracer, None)
        self._count()
        return list(dict.fromkeys(tracee.actor.process for tracee in mine if tracee.options & _OPTION_EXITKILL))


def _status(options: int, kind: int, value: int) -> int:
    """Return the status of a stop as wait4(2) reports it; 0 if the tracer has not asked for this event."""
    if kind == Stop.SIGNAL:
        return value << 8 | _STOPPED
    if kind in (Stop.ENTRY, Stop.EXIT):
        return (signal.SIGTRAP | (0x80 if options & _OPTION_SYSGOOD else 0)) << 8 | _STOPPED
    if kind == Stop.EVENT and not options >> value & 1:
        return 0
    event = value if kind == Stop.EVENT else _EVENT_EXEC if options >> _EVENT_EXEC & 1 else 0
    return event << 16 | signal.SIGTRAP << 8 | _STOPPED


def _names(pid: int, caller: Process, process: Process, tid: int) -> bool:
    """Return whether wait4(2) with this pid waits for this thread of a process."""
    if pid > 0:
        return tid == pid
    return pid == -1 or process.group() == (caller.group() if pid == 0 else -pid)


def _wait_status(process: Process) -> int:
    """Return the status of a dead process as wait(2) reports it. For a killed process, its zombie has the status."""
    if process.exit_status is not None and process.exit_status >= 0:
        return (process.exit_status & 0xFF) << 8
    try:
        with open(f"/proc/{process.global_pid}/stat") as file:
            return int(file.read().split()[_EXIT_CODE_PLACE])
    except (OSError, IndexError, ValueError):
        return int(signal.SIGKILL)
