"""Records why a run cannot be repeated to the byte: something came from outside of the emulation, or from real time.

Inside of the emulation, a process sends the server a message before it ends, and so does the sender of a signal. A
process that dies of a signal which no message has named was killed from outside: by a user, by the kernel for lack of
memory, or by a limit of CPU time.
"""

from __future__ import annotations

import fcntl
import select
import signal
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from rsg_server.process.external_signals import signal_name

if TYPE_CHECKING:
    from rsg_server.process.process import Process

DEATH_TIMEOUT_MS = 10_000
_OWN = {
    signal.SIGILL,
    signal.SIGTRAP,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGSEGV,
    signal.SIGPIPE,
    signal.SIGXFSZ,
    signal.SIGSYS,
}
"""Signals by which a process may end itself in its own turn (a mistake, abort(3), …).

They do not prove that something came from outside.
"""
_CPU_TIME = {signal.SIGXCPU: "RLIMIT_CPU", signal.SIGVTALRM: "ITIMER_VIRTUAL", signal.SIGPROF: "ITIMER_PROF"}
_EXIT_CODE = 49
"""The place of the field `exit_code` in /proc/PID/stat, counted from the field `state` (proc_pid_stat(5))."""
_GET_INFO, _INFO_EXIT = 0xC040FF0B, 1 << 3
"""The ioctl PIDFD_GET_INFO with a record of 64 bytes, and the bit of its mask for the exit code (<linux/pidfd.h>, Linux
6.15).
"""


class Disturbances:
    """Records the reasons why a run cannot be repeated, each once, in the order in which they came.

    `warn` shows a line to the user.
    """

    def __init__(self, warn: Callable[[str], None]) -> None:
        self.reasons: list[str] = []
        self._warn = warn
        self._kills = kills_for_memory()

    def note(self, reason: str) -> None:
        """Record a reason why the run cannot be repeated to the byte, and warn the user, unless it is recorded already."""
        if reason not in self.reasons:
            self.reasons.append(reason)

    def look_at_death(self, process: Process, moment_ns: int, in_turn: bool) -> None:
        """Record the death of a process that has not announced its end, if nobody in the emulation has killed it.

        `in_turn` says that a thread of the process had the turn when it died. A thread that had the turn may have sent
        the signal to itself, or may have made a mistake such as an access to a wrong address.
        """
        if process.dead or process.exit_status is not None:
            return
        number = _await_signal(process)
        if number in _CPU_TIME and not process.told >> (number - 1) & 1:
            self._tell(process, f"{signal.Signals(number).name}: its CPU time counts ({_CPU_TIME[signal.Signals(number)]})")
        elif not in_turn and process.orphaned_ns != moment_ns and not _is_told(process, signal.SIGKILL):
            self._tell(process, f"{signal_name(number or signal.SIGKILL)} from outside the emulation{self._by_kernel()}")
        elif in_turn and number and number not in _OWN and not _is_told(process, number):
            self._tell(process, f"{signal_name(number)} from outside the emulation{self._by_kernel()}")

    def look_at_stillbirth(self, process: Process, status: int) -> None:
        """Record that a started process has died of a signal before its first message. `status` is as wait(2) returns it."""
        number = status & 0x7F
        if number and number not in _OWN:
            self._tell(process, f"{signal_name(number)} from outside the emulation{self._by_kernel()}")

    def _by_kernel(self) -> str:
        """Return words that name the kernel as the killer, if it has killed a process for lack of memory since the last
        call.
        """
        before, self._kills = self._kills, kills_for_memory()
        return ", by the kernel, which has run out of memory" if self._kills > before else ""

    def _tell(self, process: Process, what: str) -> None:
        reason = f"{process!r} was killed by {what}"
        if reason not in self.reasons:
            self.note(reason)
            self._warn(f"{reason}: this run cannot be repeated to the byte")


def kills_for_memory() -> int:
    """Return how many processes the kernel has killed for lack of memory since the computer was started."""
    try:
        with open("/proc/vmstat") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("oom_kill ")), 0)
    except OSError:
        return 0


def _is_told(process: Process, number: int) -> bool:
    return bool(process.told >> (number - 1) & 1)


def _await_signal(process: Process) -> int:
    """Return the signal that has ended a process; 0 if no signal has, or if that cannot be known any more."""
    if process.pidfd < 0:
        return 0
    poller = select.poll()
    poller.register(process.pidfd, select.POLLIN)
    poller.poll(DEATH_TIMEOUT_MS)
    return _status(process) & 0x7F


def _status(process: Process) -> int:
    """Return the status of a dead process as wait(2) gives it; 0 if it is unknown.

    The status is read from /proc, or for a process that was waited for from its pidfd.
    """
    try:
        with open(f"/proc/{process.global_pid}/stat") as file:
            return int(file.read().rpartition(") ")[2].split()[_EXIT_CODE])
    except (OSError, IndexError, ValueError):
        pass
    record = bytearray(struct.pack("=Q", _INFO_EXIT).ljust(64, b"\0"))
    try:
        fcntl.ioctl(process.pidfd, _GET_INFO, record)
    except OSError:
        return 0
    return int(struct.unpack_from("=i", record, 60)[0]) if record[0] & _INFO_EXIT else 0
