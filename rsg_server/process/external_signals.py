"""Finds signals that an emulated process gets from outside of the emulation: a user's `kill`, `timeout`, a terminal's Ctrl-Z.

A sender inside the emulation tells the server of each signal. A waiting thread blocks all signals, so a signal from
outside would stay pending in the kernel until the thread's wait is over. Therefore the service looks for such signals a
few times per second of real time, between two turns. A signal comes from outside if it is pending while all threads of
the process wait and one of them would take it. For any other signal, the server has woken a thread already.
"""

from __future__ import annotations

import signal
from bisect import bisect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rsg_server.process.actor import Actor, State

if TYPE_CHECKING:
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals
    from rsg_server.warner import Warner

LOOK_S = 0.1
"""Real seconds between two searches for such signals."""
LOOK_MOST = 32
"""The most processes that one search reads, some 25 µs each; the next search continues after them."""
NAMES = {number.value: number.name for number in signal.Signals if number < signal.SIGRTMIN}
"""The names of signals by their number, without real-time signals, and without 32 and 33, which C libraries use internally."""
_IGNORED_BY_DEFAULT = sum(1 << (number - 1) for number in (signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH, signal.SIGCONT))


class ExternalSignals:
    """Looks for signals from outside, at some processes at a time. `changed` makes the turn loop look for ended processes."""

    def __init__(self, processes: Mapping[int, Process], signals: Signals, changed: Callable[[], None], warner: Warner) -> None:
        self._processes, self._signals, self._changed, self._warner = processes, signals, changed, warner
        self._last = 0  # the number of the last process that was searched

    def look(self) -> bool:
        """Look for signals from outside, and let them take effect. Return whether there were any."""
        found = False
        numbers = sorted(self._processes)
        start = bisect(numbers, self._last)
        for number in (numbers[start:] + numbers[:start])[:LOOK_MOST]:
            process = self._processes.get(number)
            if process is not None and process.pidfd >= 0:
                found = self._look_at(process) or found
            self._last = number
        return found

    def _look_at(self, process: Process) -> bool:
        status = process.status_fields()
        state = status.get("State", "Z")[0]
        if state in "ZX":
            self._changed()  # the pidfd reports the death, unless only the main thread has ended
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
        self._signals.notice(process, number)
        return True

    def _follow(self, process: Process, stopped: bool) -> None:
        self._warn(process, signal.SIGSTOP if stopped else signal.SIGCONT)
        if stopped:
            self._signals.stop(process)
        else:
            self._signals.resume(process)

    def _warn(self, process: Process, number: int) -> None:
        name = signal_name(number)
        self._warner.warn(f"{process!r} was sent {name} from outside the emulation: this run cannot be repeated to the byte")


def signal_name(number: int) -> str:
    """Return the name of a signal for a message.

    The signal may be any number, since a process may write any number into shared memory.
    """
    return NAMES.get(number, f"signal {number}")


def _untold(process: Process, status: dict[str, str]) -> int:
    """Return the lowest pending signal of a process that the server does not know of and that a waiting thread would
    take; 0 if none.
    """
    pending = int(status["ShdPnd"], 16) | int(status["SigPnd"], 16)
    if not pending:
        return 0
    pending &= ~int(status["SigIgn"], 16) & (int(status["SigCgt"], 16) | ~_IGNORED_BY_DEFAULT)
    if not pending or any(actor.state is not State.PARKED for actor in process.actors):
        return 0
    for timer in process.timers.values():
        # a timer of CPU time expires while a charge passes, and the thread takes its signal after that
        if timer.cpu_of is not None:
            pending &= ~(1 << timer.signal - 1)
    taken = 0
    for actor in process.actors:
        taken |= _open_to(actor)
    pending &= taken
    return (pending & -pending).bit_length()


def _open_to(actor: Actor) -> int:
    """Return the mask of the signals that a waiting actor takes."""
    return 0 if actor.parked is None else actor.parked.open_to()
