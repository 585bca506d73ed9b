"""The processor time of everything in a PID namespace, asked for by its first process. Only Python's standard library."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

CPUCLOCK_SCHED = 2


def spent_s() -> float:
    """Seconds of all processes but the caller, the dead among them, since the namespace began.

    Orphans become children of the first process, and are reaped here: the kernel then adds their time to its children's.
    """
    reap()
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and int(entry.name) != os.getpid()]
    return waited.ru_utime + waited.ru_stime + sum(map(of_process_s, living))


def reap() -> None:
    """Take leave of children that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def of_process_s(pid: int) -> float:
    """Seconds of a process, to the nanosecond, and of its children that it has waited for, to the tick; 0 if it has gone."""
    try:
        own = time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)  # as clock_getcpuclockid(3) makes it
        words = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return own + (int(words[13]) + int(words[14])) / os.sysconf("SC_CLK_TCK")
