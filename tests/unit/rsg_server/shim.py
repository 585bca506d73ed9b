"""The other side of the shared memory: what a shim reads and writes there, by the struct that it is compiled with."""

from __future__ import annotations

import mmap
from typing import Any

from rsg_server._native import ffi, lib

from rsg_server.protocol import MESSAGE_MAX, SHARED_BYTES, STREAMS_OFFSET
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
        self.outbox: Any = ffi.cast("struct simunix_outbox *", ffi.cast("char *", self.address) + lib.SIMUNIX_OUTBOX_OFFSET)
        self.inbox: Any = ffi.cast("struct simunix_inbox *", self.outbox + 1)
        self.streams: Any = ffi.cast("uint32_t *", ffi.cast("char *", self.address) + STREAMS_OFFSET)

    def leave(self, message: bytes, slot: int = 0) -> None:
        """Leave a message in the outbox, whose sender waits for the answer at a slot."""
        self.outbox.slot, self.outbox.length, self.outbox.tells_handoffs = slot, len(message), 0
        ffi.memmove(self.outbox.message, message, min(len(message), MESSAGE_MAX))
        self.outbox.is_asked = lib.ASKED_MESSAGE

    def leave_park(self, slot: int, wait: int, deadline_ns: int, word: int, bitset: int) -> None:
        """Give the turn back in the outbox, until what is waited for has come, which siblings may bring."""
        park = self.outbox.park
        park.wait, park.syscall, park.deadline, park.blocked, park.a, park.b, park.c = (
            wait,
            230,
            deadline_ns,
            0,
            0,
            word,
            bitset,
        )
        park.by_handoff, self.outbox.slot, self.outbox.tells_handoffs = 1, slot, 0
        self.outbox.is_asked = lib.ASKED_TO_PARK

    def leave_news(self, digest: int, news: bytes) -> None:
        """Tell in the outbox how the turn came to its sender; `news` are a struct simunix_handoff for each changed sibling."""
        self.outbox.tells_handoffs, self.outbox.digest = 1, digest
        self.outbox.news_count = len(news) // ffi.sizeof("struct simunix_handoff")
        ffi.memmove(self.outbox.news, news, min(len(news), ffi.sizeof(self.outbox.news)))
        self.outbox.is_asked = lib.ASKED_MESSAGE

    def close(self) -> None:
        """Release the mapping."""
        ffi.release(self.address)
        self._memory.close()
