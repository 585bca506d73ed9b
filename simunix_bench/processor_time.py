"""The processor time of all processes in a PID namespace, measured by its first process with the standard library only."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

CPUCLOCK_SCHED = 2


def spent_s() -> float:
    """Return the seconds of all processes but the caller, dead ones included, since the namespace began.

    Orphans become children of the first process and are reaped here: the kernel then adds their time to that of its children.
    """
    reap()
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and int(entry.name) != os.getpid()]
    return waited.ru_utime + waited.ru_stime + sum(map(of_process_s, living))


def reap() -> None:
    """Reap all children that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def of_process_s(pid: int) -> float:
    """Return the seconds of a process, to the nanosecond, and of its reaped children, to the tick; 0 for a dead process."""
    try:
        own = time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)  # as clock_getcpuclockid(3) makes it
        fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return own + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
