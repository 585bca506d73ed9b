"""Signals that the server sends itself: expiring timers, with the siginfo that applications look at."""

import ctypes
import os
import struct

_SYS_RT_SIGQUEUEINFO = 129
_SYS_TGKILL = 234
_SYS_RT_TGSIGQUEUEINFO = 297
_SI_TIMER = -2
_SIGINFO_BYTES = 128

_libc = ctypes.CDLL(None, use_errno=True)


def send_timer_signal(global_pid: int, number: int, timer_id: int, value: int, posix: bool, global_tid: int = 0) -> None:
    """Queue a timer's signal to a process, or to one of its threads; raises ProcessLookupError if it is gone.

    ITIMER_REAL's SIGALRM comes plain; a POSIX timer's carries SI_TIMER, its id and its value (timer_create(2)).
    """
    if not posix:
        os.kill(global_pid, number)
        return
    # siginfo_t: signo, errno, code, pad; then timer id, overrun, value
    info = struct.pack("=iiiiiiQ", number, 0, _SI_TIMER, 0, timer_id, 0, value & 0xFFFFFFFFFFFFFFFF)
    buffer = ctypes.create_string_buffer(info, _SIGINFO_BYTES)
    if global_tid:
        result = _libc.syscall(_SYS_RT_TGSIGQUEUEINFO, global_pid, global_tid, number, buffer)
    else:
        result = _libc.syscall(_SYS_RT_SIGQUEUEINFO, global_pid, number, buffer)
    if result != 0:
        code = ctypes.get_errno()
        raise ProcessLookupError(code, os.strerror(code))


def global_tid(global_pid: int, tid: int) -> int:
    """The server's number of a thread that calls itself `tid` in its PID namespace; 0 if there is none."""
    try:
        tasks = sorted(os.listdir(f"/proc/{global_pid}/task"), key=int)
    except FileNotFoundError:
        return 0
    for task in tasks:
        try:
            with open(f"/proc/{global_pid}/task/{task}/status") as status:
                for line in status:
                    if line.startswith("NSpid:") and int(line.split()[-1]) == tid:
                        return int(task)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return 0


def send_to_thread(global_pid: int, tid: int, number: int) -> None:
    """tgkill a thread that calls itself `tid` in its PID namespace; nothing happens if it is gone."""
    _libc.syscall(_SYS_TGKILL, global_pid, global_tid(global_pid, tid), number)


def thread_cpu_s(global_pid: int, tid: int) -> float:
    """CPU time that a thread has used; 0 if it is gone."""
    try:
        with open(f"/proc/{global_pid}/task/{global_tid(global_pid, tid)}/schedstat") as file:
            return int(file.read().split()[0]) / 1e9
    except OSError:
        return 0.0
