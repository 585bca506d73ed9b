"""The other side of the shared memory: what a shim reads and writes there, by the struct that it is compiled with."""

from __future__ import annotations

import mmap
from typing import Any

from rsg_server._native import ffi, lib

from rsg_server.protocol import SHARED_BYTES, STREAMS_OFFSET
from rsg_server.shared.memory import SharedMemory


class Shim:
    """A mapping of its own; `page` is the struct simunix_clock_page, `timer_queue` the struct
    simunix_timer_queue, `streams` the words of stream sockets.
    """

    def __init__(self, shared: SharedMemory) -> None:
        self._memory = mmap.mmap(shared.fd, SHARED_BYTES)
        self.address: Any = ffi.from_buffer(self._memory)
        self.page: Any = ffi.cast("struct simunix_clock_page *", self.address)
        self.timer_queue: Any = lib.timer_queue_of(self.address)
        self.streams: Any = ffi.cast("uint32_t *", ffi.cast("char *", self.address) + STREAMS_OFFSET)

    def close(self) -> None:
        """Release the mapping."""
        ffi.release(self.address)
        self._memory.close()
