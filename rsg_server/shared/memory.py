"""The memory that the server and all emulated processes share: one file, which each of them maps.

The first page of this file, the clock page, consists of words of 64 bits (struct simunix_clock_page in
csrc/shared/protocol.h). Slots, timer queue, journal, streams, outbox and boxes follow. Each class of this folder reads
and writes its own part, and no other code does.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import Final

from rsg_server._native import ffi
from rsg_server.protocol import PAGE_FIELDS, PROTOCOL_VERSION, SHARED_BYTES
from rsg_server.shared.boxes import Boxes
from rsg_server.shared.clock import FOREVER_NS, Clock
from rsg_server.shared.counters import Counters
from rsg_server.shared.deadlines import Deadlines
from rsg_server.shared.devices import DeviceNotices
from rsg_server.shared.notices import Notices
from rsg_server.shared.outbox import Outbox
from rsg_server.shared.prices import Costs, Prices
from rsg_server.shared.slots import AnswerSlots
from rsg_server.shared.streams import Streams
from rsg_server.shared.turn_words import TurnWords
from rsg_server.shared.wall_clocks import WallClocks

_REALTIME: Final = PAGE_FIELDS["realtime_ns"]
_BEGUN: Final = PAGE_FIELDS["begun_ns"]
_NICE: Final = PAGE_FIELDS["nice"]
_VERSION: Final = PAGE_FIELDS["version"]


class SharedMemory:
    """The shared file, its mapping, and an object for each of its parts. Emulated processes inherit its descriptor `fd`."""

    def __init__(self, epoch_ns: int, uptime_ns: int, costs: Costs, begun_ns: int = FOREVER_NS) -> None:
        """Make the shared memory.

        At virtual time 0, CLOCK_REALTIME shows `epoch_ns` and CLOCK_MONOTONIC shows `uptime_ns`. A file with a time
        stamp of the real clock from `begun_ns` on was made during this run.
        """
        self.fd = os.memfd_create("simunix-clock", os.MFD_CLOEXEC)
        os.ftruncate(self.fd, SHARED_BYTES)  # pages to which nothing is written take no memory
        self._memory = mmap.mmap(self.fd, SHARED_BYTES)
        struct.pack_into("=qq", self._memory, _REALTIME * 8, epoch_ns, uptime_ns)
        struct.pack_into("=q", self._memory, _NICE * 8, os.getpriority(os.PRIO_PROCESS, 0))
        self._words = words = memoryview(self._memory)[: mmap.PAGESIZE].cast("Q")
        words[_BEGUN], words[_VERSION] = begun_ns, PROTOCOL_VERSION
        self.clock, self.turn = Clock(words), TurnWords(words)
        self.wall_clocks = WallClocks(words, epoch_ns)
        self.notices, self.devices = Notices(words), DeviceNotices(words)
        self.prices, self.counters = Prices(words, costs), Counters(words)
        self.streams, self.boxes = Streams(memoryview(self._memory)), Boxes(self.fd)
        self._buffer = ffi.from_buffer(self._memory)
        # the server's C code uses the mapping as long as the shared memory exists
        self.address = address = ffi.cast("char *", self._buffer)
        self.outbox = Outbox(self._memory, address)
        self.slots = AnswerSlots(address, self.boxes, self.outbox)
        self.deadlines = Deadlines(words, address)

    def close(self) -> None:
        """Release the mapping and its descriptor. No part can be used afterwards."""
        self.boxes.close()
        self.outbox.close()
        self.streams.close()
        self.slots.close()
        self.deadlines.close()
        ffi.release(self._buffer)
        self._words.release()
        self._memory.close()
        os.close(self.fd)
