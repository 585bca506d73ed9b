"""Start child processes that the kernel ends when their parent ends for any reason."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

from simunix.launch.interrupts import HEARD

PR_SET_PDEATHSIG = 1


def die_with(parent: int, number: int = signal.SIGTERM) -> Callable[[], None]:
    """Return a preexec_fn for subprocess: the new process gets the signal `number` when the thread that has started it
    ends.
    """
    libc = ctypes.CDLL(None)

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)  # a worker of a sweep, which may be the parent, blocks these signals
        libc.prctl(PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:
            os._exit(1)

    return prepare
