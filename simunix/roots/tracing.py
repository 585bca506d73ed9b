"""Whether processes may be traced here: programs that no loader brings the shim into need it (csrc/hostinit/injection.c)."""

from __future__ import annotations

import ctypes
import errno
from functools import cache
from pathlib import Path

PTRACE_SEIZE = 0x4206
NOBODY = (1 << 22) + 1
"""A process number that no process can have (PID_MAX_LIMIT)."""
YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
NO_ATTACH = 3


@cache
def tracing_is_allowed() -> bool:
    """Ask the kernel to trace a process that does not exist: ESRCH unless a filter (seccomp) forbids ptrace(2) altogether."""
    try:
        if int(YAMA.read_text()) >= NO_ATTACH:
            return False
    except (OSError, ValueError):
        pass  # a kernel without Yama
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace(PTRACE_SEIZE, NOBODY, None, None)
    return ctypes.get_errno() == errno.ESRCH
