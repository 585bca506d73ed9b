"""Handles signals between processes. The sender's shim sends a signal by the real kernel; the server decides when the
signal takes effect.

The server also decides which thread takes a signal that was sent to a process.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.process import native_signal
from rsg_server.process.life.orphans import is_orphaned_group
from rsg_server.process.terminals import type_at
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.event_log import EventLog
    from rsg_server.process.actor import Actor
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals
    from rsg_server.shared.clock import Clock

_LOOKS_AT_SENT = 100
"""How often at most the server looks whether a process that was sent a signal shows its effect (stopped or continued)."""
_LOOKS_AT_PENDING = 10_000
"""How often at most the server looks for the effect of a signal that is pending, and so has been sent for certain."""
_OF_LIBC = frozenset((32, 33))
"""The signals SIGCANCEL and SIGSETXID (nptl(7)), which threads of glibc and musl send each other.

E.g. seteuid(2) sends one to each thread.
"""


def _doom(sender: Process, targets: list[Process]) -> None:
    """Note which processes a sender is about to kill.

    Afterwards /proc no longer lists the process groups of all of them.
    """
    sender.doomed = targets
    for target in targets:
        target.told |= 1 << (signal.SIGKILL - 1)


def _is_about_to_kill_itself(sender: Process, pid: int, tid: int, number: int) -> bool:
    """Return whether a SIGKILL will kill its sender, too.

    Such a sender reports the signal to the server before it calls kill(2).
    """
    if number != signal.SIGKILL or tid or not (pid in (0, sender.pid) or (pid < -1 and -pid == sender.group())):
        return False
    return not sender.is_dying()


def _has_pending(status: dict[str, str], number: int) -> bool:
    return bool((int(status["SigPnd"], 16) | int(status["ShdPnd"], 16)) >> (number - 1) & 1)


def await_state(process: Process, stopped: bool, looks: int, number: int = signal.SIGSTOP) -> bool:
    """Wait until the kernel has stopped a process (or continued it, if not `stopped`); return whether it has.

    The kernel needs microseconds for this, since no other actor runs. If the process has not stopped after `looks`
    looks, the signal was not sent, and the result is False. If the signal is pending, the function waits longer.
    """
    for look in range(_LOOKS_AT_PENDING):
        status = process.status_fields()
        state = status.get("State", "")
        if not state or (state[0] in "Tt") == stopped:
            return True
        if look >= looks and not (stopped and _has_pending(status, number)):
            return False
        os.sched_yield()  # the process may need the processor core on which the server runs
    return False


def _await_rest(actor: Actor) -> str:
    pid = actor.process.global_pid
    return native_signal.await_rest(pid, native_signal.global_tid(pid, actor.tid, actor.process.host.level))


def _targets(actor: Actor, pid: int, tid: int) -> list[Process]:
    """Return the processes that kill(2) with this pid reaches on the sender's host, in the order of their numbers."""
    processes = sorted(actor.process.host.processes.values(), key=lambda process: process.number)
    if pid > 0:
        return [process for process in processes if process.pid == pid]
    if tid:
        return [process for process in processes if any(other.tid == tid for other in process.actors)]
    if pid == -1:
        sender = actor.process
        around = sender.reaper
        reached = processes if around is None else [process for process in processes if process.is_within(around)]
        return [process for process in reached if process is not sender and process is not around]
    group = actor.process.group() if pid == 0 else -pid
    return [process for process in processes if process.group() == group]


class SignalEffects:
    """Waits until signals have had their effect on a process, before another actor runs.

    The real kernel has sent the signals.
    """

    def __init__(self, deaths: Deaths, signals: Signals, log: EventLog, clock: Clock, timeline: Timeline) -> None:
        self._deaths, self._signals, self._log, self._clock, self._timeline = deaths, signals, log, clock, timeline

    def inject(self, process: Process, number: int) -> None:
        """Send a process a signal from outside of the emulation, e.g. for a fault of the scenario. No actor may have the turn.

        A process that was started just now has no pidfd before its first message, so the signal is sent after that
        message.
        """
        if process.dead:
            return
        if process.pidfd < 0:
            self._timeline.add(self._clock.now_ns + 1, lambda: self.inject(process, number))
            return
        self._log.event(self._clock.now_ns, "signal_injected", host=process.host.name, pid=process.pid, signal=int(number))
        self._signals.send(process, number)
        self.take_effect(process, number)

    def take_effect(self, target: Process, number: int, tid: int = 0) -> None:
        """Wait until the kernel has done to a process what a signal does, before another actor runs; then wake its threads.

        With a `tid` the signal was sent to this thread.
        """
        if number == signal.SIGKILL:
            self._deaths.await_deaths([target])
        elif number == signal.SIGSTOP:
            if await_state(target, True, _LOOKS_AT_SENT):
                self._signals.stop(target)
        else:
            if number == signal.SIGCONT and await_state(target, False, _LOOKS_AT_SENT):
                if target.stopped:
                    native_signal.await_rests(target.global_pid)
                self._signals.resume(target)
            self._signals.notice(target, number, tid)


class SignalHandlers:
    """Handles SIGNAL, STOPPING and the other messages about signals."""

    def __init__(
        self,
        effects: SignalEffects,
        deaths: Deaths,
        signals: Signals,
        log: EventLog,
        clock: Clock,
        make_ready: Callable[[Actor], None],
    ) -> None:
        self._effects, self._deaths, self._signals, self._log, self._clock, self._make_ready = (
            effects,
            deaths,
            signals,
            log,
            clock,
            make_ready,
        )

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.SIGNAL: self.sent,
                Op.STOPPING: self.stopping,
                Op.TYPED: self.typed,
                Op.KERNEL_SIGNALS: self.kernel_signals,
                Op.GROUP_ORPHANED: self.group_orphaned,
            }
        )

    def sent(self, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
        """Let a signal take effect that the caller's shim has sent by the real kernel.

        [pid as in kill(2), tid or 0 for the whole process, signal] -> [0]. The signal -SIGKILL says that a SIGKILL is
        about to be sent.
        """
        pid, tid, number = arguments
        assert isinstance(pid, int) and isinstance(tid, int) and isinstance(number, int)
        sender = actor.process
        if number == -signal.SIGKILL:
            _doom(sender, _targets(actor, pid, tid))
            return OK
        if not 1 <= number <= 64:
            return OK
        if (pid == sender.pid and tid == actor.tid) or _is_about_to_kill_itself(sender, pid, tid, number):
            sender.told |= 1 << (number - 1)  # the signal acts on the sender itself, in this turn, by the kernel
            if number == signal.SIGKILL and pid != sender.pid:
                _doom(sender, [target for target in _targets(actor, pid, tid) if target is not sender])
            return OK
        if number == signal.SIGKILL:
            self._deaths.await_deaths(sender.take_doomed() or _targets(actor, pid, tid))
        else:
            for target in _targets(actor, pid, tid):
                self._effects.take_effect(target, number, tid)
        if number not in _OF_LIBC:
            self._log.event(
                self._clock.now_ns, "signal", host=sender.host.name, sender=sender.pid, pid=pid, tid=tid, signal=number
            )
        return None if sender.dead else OK

    def stopping(self, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
        """Handle that the kernel is about to stop the caller's process by a signal.

        [signal, pid] -> [0], sent when the process is continued. The signal also stops the processes that `pid` means
        in kill(2); -1 means no other process.
        """
        number, pid = arguments
        if not 1 <= number <= 64:
            return OK
        process = actor.process
        others = [target for target in _targets(actor, pid, 0) if target is not process] if pid != -1 else []
        stopped = _await_rest(actor) == "T" or await_state(process, True, _LOOKS_AT_SENT, number)
        if stopped:
            actor.reply = (0,)
            self._make_ready(actor)
            self._signals.stop(process)
        for target in others:
            self._effects.take_effect(target, number)
        return None if stopped else OK

    def kernel_signals(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Note that from now on the kernel itself may send signals to this process: from a terminal, or for an O_ASYNC file.

        [1 if from a terminal] -> [0]. See fcntl(2).
        """
        self._signals.listen_to_kernel(actor.process, is_at_terminal=bool(arguments[0]))
        return OK

    def group_orphaned(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Say whether the caller's process group is orphaned (setpgid(2)), so that its terminal cannot stop the group.

        [] -> [0]; -EIO if it is orphaned.
        """
        return failed(errno.EIO) if is_orphaned_group(actor.process) else OK

    def typed(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Type characters at a terminal, which a program has written to the terminal's master.

        [number of the terminal, bytes] -> [number of bytes]; -EAGAIN: the shim must write them to the master itself.
        """
        number, keys = arguments
        return Reply((len(keys),)) if type_at(actor.process.host, number, keys) else failed(errno.EAGAIN)
