"""Why a run cannot be repeated to the byte: what has come from outside of the emulation, or from real time.

Inside of the emulation, a process announces its own end, and the sender of a signal names the signal. A process that dies of a
signal that no message has named was killed from outside: by a user, by the kernel when memory is short, by a limit of CPU time.
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
"""Signals by which a process ends itself in its own turn. That they came from outside cannot be told from that."""
_CPU_TIME = {signal.SIGXCPU: "RLIMIT_CPU", signal.SIGVTALRM: "ITIMER_VIRTUAL", signal.SIGPROF: "ITIMER_PROF"}
_EXIT_CODE = 49
"""The field `exit_code` of /proc/PID/stat, counted from `state`: proc_pid_stat(5)."""
_GET_INFO, _INFO_EXIT = 0xC040FF0B, 1 << 3
"""PIDFD_GET_INFO with a record of 64 bytes, and the bit of its mask that asks for the exit code (<linux/pidfd.h>, 6.15)."""


class Disturbances:
    """Notes reasons, each once, in the order in which they have come. `warn` shows a line to the user."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self.reasons: list[str] = []
        self._warn = warn
        self._kills = kills_for_memory()

    def note(self, reason: str) -> None:
        """Note why the run cannot be repeated to the byte."""
        if reason not in self.reasons:
            self.reasons.append(reason)

    def look_at_death(self, process: Process, moment_ns: int, in_turn: bool) -> None:
        """Note the death of a process that has not announced its end, if its killer is not known.

        `in_turn`: one of its threads had the turn when it died, and may have sent itself the signal or made a mistake.
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
        """Note the death of a started process before its first message, if by a signal; `status` is as wait(2) gives it."""
        number = status & 0x7F
        if number and number not in _OWN:
            self._tell(process, f"{signal_name(number)} from outside the emulation{self._by_kernel()}")

    def _by_kernel(self) -> str:
        """Words for the kernel as the killer, if it has killed any process since the last look because memory was short."""
        before, self._kills = self._kills, kills_for_memory()
        return ", by the kernel, which has run out of memory" if self._kills > before else ""

    def _tell(self, process: Process, what: str) -> None:
        reason = f"{process!r} was killed by {what}"
        if reason not in self.reasons:
            self.note(reason)
            self._warn(f"{reason}: this run cannot be repeated to the byte")


def kills_for_memory() -> int:
    """How many processes the kernel has killed since it was started because memory was short."""
    try:
        with open("/proc/vmstat") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("oom_kill ")), 0)
    except OSError:
        return 0


def _is_told(process: Process, number: int) -> bool:
    return bool(process.told >> (number - 1) & 1)


def _await_signal(process: Process) -> int:
    """The signal that has ended a process; 0 if it has ended otherwise, or if that cannot be known any more."""
    if process.pidfd < 0:
        return 0
    poller = select.poll()
    poller.register(process.pidfd, select.POLLIN)
    poller.poll(DEATH_TIMEOUT_MS)
    return _status(process) & 0x7F


def _status(process: Process) -> int:
    """The status of a dead process as wait(2) gives it, from /proc, or from the pidfd of one that was reaped; 0 if unknown."""
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
