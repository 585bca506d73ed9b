"""Find out whether this computer allows tracing of processes, which simunix needs to inject the shim into static
programs (csrc/hostinit/injection.c).
"""

from __future__ import annotations

import ctypes
import errno
from functools import cache
from pathlib import Path

PTRACE_SEIZE = 0x4206
NOBODY = (1 << 22) + 1
"""A process number that no process can have (above PID_MAX_LIMIT)."""
YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
NO_ATTACH = 3


@cache
def tracing_is_allowed() -> bool:
    """Return whether ptrace(2) is allowed, by asking for a process that does not exist: the kernel answers ESRCH unless
    a seccomp filter forbids ptrace(2).
    """
    try:
        if int(YAMA.read_text()) >= NO_ATTACH:
            return False
    except (OSError, ValueError):
        pass  # the kernel has no Yama
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace(PTRACE_SEIZE, NOBODY, None, None)
    return ctypes.get_errno() == errno.ESRCH
