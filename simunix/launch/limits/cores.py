"""Reserve a core of this computer for a run. Runs at the same time take different cores, as long as there are free
ones.

A run reserves a core by binding a socket to an abstract name (unix(7)), which needs no file. The kernel lets only one
process of all users bind a name, and frees the name when that process ends.
"""

from __future__ import annotations

import errno
import itertools
import os
import socket
from collections.abc import Sequence
from types import TracebackType

SHARERS_MAX = 1000
"""The number of runs per core up to which runs are counted."""


class Claim:
    """A core that this process has reserved until `release` is called or the process ends."""

    def __init__(self, core: int, holder: socket.socket | None) -> None:
        self.core = core
        self._holder = holder

    def release(self) -> None:
        """Give the core up, so that other runs can reserve it."""
        if self._holder is not None:
            self._holder.close()
            self._holder = None

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


def claim(cores: Sequence[int] | None = None) -> Claim:
    """Reserve the core that the fewest runs use, among `cores` (default: the cores that this process may run on).

    Among equally used cores, the search begins at a place that depends on the pid. So runs also spread over the cores
    if they are in different network namespaces, and do not see each other's names.
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
