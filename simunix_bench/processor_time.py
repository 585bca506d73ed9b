"""Measure the processor time of all processes in a PID namespace; the namespace's first process does so, with the
standard library only.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

CPUCLOCK_SCHED = 2


def spent_s() -> float:
    """Return the seconds of processor time of all processes except for the caller since the namespace began, including
    those that have ended.

    Orphans become children of the first process. This function waits for them, which makes the kernel add their time to
    that of the first process's children.
    """
    reap()
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and int(entry.name) != os.getpid()]
    return waited.ru_utime + waited.ru_stime + sum(map(of_process_s, living))


def reap() -> None:
    """Wait for all children that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def of_process_s(pid: int) -> float:
    """Return the seconds of processor time of a process, exact to the nanosecond, and of its children that it waited
    for, exact to the tick; 0 if the process has ended.
    """
    try:
        # the number of the process's clock, as clock_getcpuclockid(3) computes it
        own = time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)
        fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return own + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
