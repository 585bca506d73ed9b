"""Finds the processes that a test has started, whatever their present names are, and those that are left."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def started(pid: int) -> str:
    """When a process was started, in ticks of the kernel; "" if it is gone, or a zombie."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return ""
    return "" if words[0] in "ZX" else words[19]


def name_of(pid: int) -> str:
    """What the kernel calls a process; "?" if it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "?"


def children(pid: int) -> list[int]:
    """The children of all threads of a process."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                found += [int(word) for word in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    return found


def descendants(top: int) -> list[int]:
    """A process and all below it, parents first."""
    found, pending = [], [top]
    while pending:
        pid = pending.pop(0)
        found.append(pid)
        pending += children(pid)
    return found


class Brood:
    """All processes that come from this one while a `Brood.kept` lasts: orphans become children of this process."""

    def __init__(self) -> None:
        self._before = set(descendants(os.getpid()))

    @classmethod
    @contextlib.contextmanager
    def kept(cls) -> Iterator[Brood]:
        """At the end, what is left is killed."""
        brood = cls()
        prctl = ctypes.CDLL(None).prctl
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        try:
            yield brood
        finally:
            brood.end()
            prctl(PR_SET_CHILD_SUBREAPER, 0)

    def left(self, patience_s: float, aside: int = -1) -> list[int]:
        """The living ones but for one that is set aside, once they have had so much real time to end."""
        end = time.monotonic() + patience_s
        while (living := [pid for pid in self._living() if pid != aside]) and time.monotonic() < end:
            time.sleep(0.02)
        return living

    def _living(self) -> list[int]:
        return [pid for pid in descendants(os.getpid()) if pid not in self._before and started(pid)]

    def kill(self) -> None:
        """Kill what is left."""
        while living := self._living():
            for pid in reversed(living):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def end(self) -> None:
        """Kill what is left, and await the orphans."""
        self.kill()
        for pid in set(children(os.getpid())) - self._before:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
