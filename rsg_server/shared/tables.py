"""Tables at the end of the shared memory, which exist only in runs that need them."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from rsg_server._native import ffi, lib
from rsg_server.protocol import SHARED_BYTES, TRAP_PLACES

_PLACES: Final = f"struct simunix_trap_place[{TRAP_PLACES}]"
_COSTS: Final = f"struct simunix_cpu_cost[{lib.SIMUNIX_COST_PROGRAMS}][{lib.SIMUNIX_COST_POINTS}]"


class Table:
    """An array of a C type at an offset of the shared file. If the file is too short, it is made longer."""

    def __init__(self, shared_fd: int, kind: str, offset: int) -> None:
        self._kind, self._offset = kind, offset
        size = offset + ffi.sizeof(kind)
        if os.fstat(shared_fd).st_size < size:  # a table at a higher offset may exist already
            os.ftruncate(shared_fd, size)  # pages to which nothing is written take no memory
        self._memory = mmap.mmap(shared_fd, size)

    @contextmanager
    def rows(self) -> Iterator[Any]:
        """Yield the array for as long as the `with` block runs. An emulated process may have written anything there."""
        array = ffi.from_buffer(self._kind, memoryview(self._memory)[self._offset :], require_writable=True)
        try:
            yield array
        finally:
            ffi.release(array)

    def close(self) -> None:
        """Release the mapping of the table."""
        self._memory.close()


def trap_places(shared_fd: int) -> Table:
    """Return the table of the instructions that trap: a hash table of struct simunix_trap_place, which the shims fill."""
    return Table(shared_fd, _PLACES, SHARED_BYTES)


def computing_costs(shared_fd: int) -> Table:
    """Return the table of what programs compute before calls: struct simunix_cpu_cost (csrc/shared/wire/cpu_protocol.h)."""
    return Table(shared_fd, _COSTS, lib.SIMUNIX_COST_OFFSET)
