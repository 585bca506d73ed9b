"""Child processes that end with their parent, whatever ends the parent."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

from simunix.launch.interrupts import HEARD

PR_SET_PDEATHSIG = 1


def die_with(parent: int, number: int = signal.SIGTERM) -> Callable[[], None]:
    """A preexec_fn: the new process gets this signal when the thread that has started it ends."""
    libc = ctypes.CDLL(None)

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)  # a worker of a sweep blocks these
        libc.prctl(PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:
            os._exit(1)

    return prepare
