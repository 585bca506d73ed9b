"""Which core of this computer a run has to itself. Runs at the same time take different cores, as far as there are any.

A core is taken by binding an abstract name (unix(7)), which needs no file: the kernel lets one process of all users have the
name, and takes it back when that process ends, however it ends.
"""

from __future__ import annotations

import errno
import itertools
import os
import socket
from collections.abc import Sequence
from types import TracebackType

SHARERS_MAX = 1000
"""More runs than this on one core are not counted any more."""


class Claim:
    """A core that this process has claimed, until `release` or its own end."""

    def __init__(self, core: int, holder: socket.socket | None) -> None:
        self.core = core
        self._holder = holder

    def release(self) -> None:
        """Let other runs have the core."""
        if self._holder is not None:
            self._holder.close()
            self._holder = None

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


def claim(cores: Sequence[int] | None = None) -> Claim:
    """Claim the one of these cores (default: those that this process may run on) that the fewest runs have.

    Equal ones are tried from a place on that our pid decides: so runs in network namespaces of their own, which do not see
    each other's names, spread as well.
    """
    known = sorted(os.sched_getaffinity(0) if cores is None else cores)
    first = os.getpid() % len(known)
    for sharers, core in itertools.product(range(SHARERS_MAX), known[first:] + known[:first]):
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        try:
            holder.bind(f"\0simunix:core:{core}:{sharers}")
        except OSError as error:
            holder.close()
            if error.errno != errno.EADDRINUSE:
                break
            continue
        return Claim(core, holder)
    return Claim(known[first], None)
