"""Sends the server's own signals by the real kernel (expired timers, preemption), and reads in /proc what signals have done."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
import time
from typing import TYPE_CHECKING

from rsg_server.process.process import number_at_level
from rsg_server.protocol import PREEMPT_CODE, TimerId

if TYPE_CHECKING:
    from rsg_server.process.process import Process, Timer
    from rsg_server.process.signals import Signals

_SYS_PIDFD_SEND_SIGNAL = 424
_SYS_RT_TGSIGQUEUEINFO = 297
_SI_TIMER = -2
_CPUCLOCK_SCHED = 2
_SIGINFO_BYTES = 128
_SIGNAL_MAX = 64
_OF_INTERVALS = frozenset(map(int, TimerId))
_LOOKS = 10_000
"""How often `await_rest` looks at a running thread before it gives up."""

_libc = ctypes.CDLL(None, use_errno=True)


def send(pidfd: int, number: int) -> None:
    """Send a signal to a process; do nothing if the process is gone, or if it has changed its user and may not be sent one."""
    if pidfd >= 0:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            signal.pidfd_send_signal(pidfd, number)


def send_timer_signal(process: Process, number: int, timer_id: int, value: int, global_tid: int = 0) -> None:
    """Queue the signal of a POSIX timer for a process or one of its threads, with the siginfo of timer_create(2).

    Nothing happens if the process or thread is gone, or if its queue is full (EAGAIN; Linux loses such a signal, too).
    """
    # A siginfo_t consists of signo, errno, code, padding, and then the timer's id, its overruns and its value
    info = struct.pack("=iiiiiiQ", number, 0, _SI_TIMER, 0, timer_id, 0, value & 0xFFFFFFFFFFFFFFFF)
    buffer = ctypes.create_string_buffer(info, _SIGINFO_BYTES)
    if global_tid:
        _libc.syscall(_SYS_RT_TGSIGQUEUEINFO, process.global_pid, global_tid, number, buffer)
    elif process.pidfd >= 0:
        _libc.syscall(_SYS_PIDFD_SEND_SIGNAL, process.pidfd, number, buffer, 0)


def is_pending(global_pid: int, number: int, tid: int = 0, level: int = 1) -> bool:
    """Return whether a signal is pending for a process, or for its thread `tid` (numbered as in `global_tid`)."""
    path, field = f"/proc/{global_pid}/status", "ShdPnd:"
    if tid:
        path, field = f"/proc/{global_pid}/task/{global_tid(global_pid, tid, level)}/status", "SigPnd:"
    try:
        with open(path) as status:
            mask = next((line.split()[1] for line in status if line.startswith(field)), "0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return bool(int(mask, 16) >> (number - 1) & 1)


def global_tid(global_pid: int, tid: int, level: int = 1) -> int:
    """Return the number that the server sees for the thread `tid` of a host's PID namespace; 0 if there is no such thread.

    The host's namespace is `level` levels below the server's.
    """
    folder = f"/proc/{global_pid}/task"
    return next((task for task in _numbers(folder) if _at_level(f"{folder}/{task}/status", level) == tid), 0)


def thread_state(global_pid: int, thread: int) -> str:
    """Return the kernel's letter for a thread's state (R: runs or is ready, S: sleeps, T: stopped); the text is empty
    if the thread is gone.
    """
    try:
        with open(f"/proc/{global_pid}/task/{thread}/stat") as file:
            return file.read().rpartition(") ")[2][:1]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def await_rest(global_pid: int, thread: int) -> str:
    """Look again and again until a thread is stopped or waits for the server's answer, even if the computer is busy.

    Return the thread's state as `thread_state` does: "R" if the thread still ran after many looks.
    """
    for _ in range(_LOOKS):
        if (state := thread_state(global_pid, thread)) != "R":
            return state
        os.sched_yield()  # the thread may need the processor core on which the server runs
    return "R"


def await_rests(global_pid: int) -> None:
    """Look again and again until all threads of a process are stopped or wait.

    Linux tells the parent (SIGCHLD) when the last thread is stopped, or when the first one runs again.
    """
    for thread in _numbers(f"/proc/{global_pid}/task"):
        await_rest(global_pid, thread)


def global_child(global_pid: int, pid: int, level: int = 1) -> int:
    """Return the number that the server sees for a process's child with a `pid` of the host. Raises ProcessLookupError.

    The host's PID namespace is `level` levels below the server's.
    """
    for task in _numbers(f"/proc/{global_pid}/task"):
        for child in _numbers_in(f"/proc/{global_pid}/task/{task}/children"):
            if _at_level(f"/proc/{child}/status", level) == pid:
                return child
    raise ProcessLookupError(pid)


def _numbers(folder: str) -> list[int]:
    try:
        return sorted(map(int, os.listdir(folder)))
    except (FileNotFoundError, ProcessLookupError):
        return []


def _numbers_in(path: str) -> list[int]:
    try:
        with open(path) as file:
            return [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _at_level(path: str, level: int) -> int:
    """Return the number of a process or thread in the PID namespace at a level, from its status file; 0 if that is gone."""
    try:
        with open(path) as status:
            return next((number_at_level(line[len("NSpid:") :], level) for line in status if line.startswith("NSpid:")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def preempt(global_pid: int, global_tid: int) -> None:
    """Send a thread the SIGSYS that makes it give the turn back; do nothing if the thread is gone."""
    info = struct.pack("=iii", signal.SIGSYS, 0, PREEMPT_CODE)
    _libc.syscall(
        _SYS_RT_TGSIGQUEUEINFO, global_pid, global_tid, signal.SIGSYS, ctypes.create_string_buffer(info, _SIGINFO_BYTES)
    )


def process_cpu_ns(global_pid: int) -> int:
    """Return the CPU time (ns) of all threads of a process (clock_getcpuclockid(3)); 0 if the process is gone."""
    try:
        return time.clock_gettime_ns(~global_pid << 3 | _CPUCLOCK_SCHED)
    except OSError:
        return 0


def is_of_interval(number: int) -> bool:
    """Return whether a timer is one of setitimer(2), which survives an exec, and not one of timer_create(2)."""
    return number in _OF_INTERVALS


def next_period(last_ns: int, interval_ns: int, now_ns: int) -> int:
    """Return the first expiration after now. Periods that were missed are counted, and do not expire one by one."""
    return last_ns + interval_ns * max(1, (now_ns - last_ns) // interval_ns + 1)


def notify_expiry(signals: Signals, process: Process, number: int, timer: Timer, expired: int) -> bool:
    """Send the signal of a timer that has expired so often; False if it sends none, or an earlier one is pending."""
    if process.dead or not 1 <= timer.signal <= _SIGNAL_MAX:
        return False
    if is_of_interval(number):
        signals.send(process, timer.signal)
    elif is_timer_pending(process, timer):
        timer.overruns += expired  # timer_getoverrun(2): one signal is queued, the others are counted
        return False
    else:
        timer.overruns_taken, timer.overruns = timer.overruns, expired - 1
        timer.was_sent = True
        _send_of_timer(process, number, timer)
    return True


def _send_of_timer(process: Process, number: int, timer: Timer) -> None:
    """Send the signal of a POSIX timer, with its value, to the process, or to the timer's thread if that still runs."""
    thread = global_tid(process.global_pid, timer.tid, process.host.level) if timer.tid else 0
    if timer.tid and not thread:
        return
    send_timer_signal(process, timer.signal, number - 1, timer.value, thread)


def is_timer_pending(process: Process, timer: Timer) -> bool:
    """Return whether the signal of an earlier expiration of a timer is still pending."""
    return timer.was_sent and is_pending(process.global_pid, timer.signal, timer.tid, process.host.level)
