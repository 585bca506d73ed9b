"""Signals that somebody outside the emulation sends to an emulated process: a user's `kill`, `timeout`, a terminal's Ctrl-Z.

Senders inside tell the server of each signal. A waiting thread blocks all signals, so what comes from outside would lie in
the kernel until the thread's wait is over: the service looks for it a few times in a second of real time, between two turns.
What is found there pending, while all threads of the process wait and one of them would take it, nobody has told us of.
"""

from __future__ import annotations

import signal
from bisect import bisect
from typing import TYPE_CHECKING

from rsg_server.process.actor import Actor, State
from rsg_server.protocol import Wait

if TYPE_CHECKING:
    from rsg_server.process.needs import SignalSender
    from rsg_server.process.process import Process

LOOK_S = 0.1
"""Wall time between two looks."""
LOOK_MOST = 32
"""Processes that one look takes in, some 25 µs each; the next look goes on with those that follow."""
_IGNORED_BY_DEFAULT = sum(1 << (number - 1) for number in (signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH, signal.SIGCONT))


class ExternalSignals:
    """Goes round the processes."""

    def __init__(self, kernel: SignalSender) -> None:
        self._kernel = kernel
        self._last = 0  # number of the process that was looked at last

    def look(self) -> bool:
        """Act on what has been sent from outside, if anything has."""
        found = False
        numbers = sorted(self._kernel.processes)
        start = bisect(numbers, self._last)
        for number in (numbers[start:] + numbers[:start])[:LOOK_MOST]:
            process = self._kernel.processes.get(number)
            if process is not None and process.pidfd >= 0:
                found = self._look_at(process) or found
            self._last = number
        return found

    def _look_at(self, process: Process) -> bool:
        status = process.status_fields()
        state = status.get("State", "Z")[0]
        if state in "ZX":
            self._kernel.readiness.changed()  # its pidfd tells, unless only its main thread has ended
            return False
        if status.get("TracerPid", "0").strip() != "0":
            return False
        if (state == "T") != process.stopped:
            self._follow(process, state == "T")
            return True
        number = 0 if process.stopped or process.hears_kernel else _untold(process, status)
        if not number:
            return False
        self._warn(process, number)
        self._kernel.signals.notice(process, number)
        return True

    def _follow(self, process: Process, stopped: bool) -> None:
        self._warn(process, signal.SIGSTOP if stopped else signal.SIGCONT)
        if stopped:
            self._kernel.signals.stop(process)
        else:
            self._kernel.signals.resume(process)

    def _warn(self, process: Process, number: int) -> None:
        name = signal.Signals(number).name if number < signal.SIGRTMIN else f"signal {number}"
        self._kernel.warn(f"{process!r} was sent {name} from outside the emulation: this run cannot be repeated to the byte")


def _untold(process: Process, status: dict[str, str]) -> int:
    """The lowest signal that is pending although a waiting thread would take it; 0 if there is none, or a thread is to run."""
    pending = int(status["ShdPnd"], 16) | int(status["SigPnd"], 16)
    if not pending:
        return 0
    pending &= ~int(status["SigIgn"], 16) & (int(status["SigCgt"], 16) | ~_IGNORED_BY_DEFAULT)
    if not pending or any(actor.state is not State.PARKED for actor in process.actors):
        return 0
    taken = 0
    for actor in process.actors:
        taken |= _open_to(actor)
    pending &= taken
    return (pending & -pending).bit_length()


def _open_to(actor: Actor) -> int:
    """Signals that a waiting actor takes, as a mask."""
    parked = actor.parked
    if parked is None or parked.wait == Wait.VFORK:
        return 0
    return ~parked.blocked | (parked.a if parked.wait == Wait.SIGNAL else 0)
