"""The page that every emulated process maps: virtual time, and how far an actor may advance it alone.

`now` never goes back. While an actor has the turn, nothing but deadlines of the timer queue is due before `lookahead`: up to
that moment the holder may set `now` to the earliest of those deadlines by itself; 0 forbids that, since others are ready.
`event` is the moment at which something is due, or others are to run: an actor whose clock read passes it gives the turn back.
"""

import mmap
import os
import struct
import time
from dataclasses import dataclass
from typing import Final

from rsg_server._native import ffi, lib
from rsg_server.clock.boxes import Boxes
from rsg_server.processor.charges import Charging
from rsg_server.protocol import (
    DEVICE_INODES,
    DEVICE_WORDS,
    PAGE_FIELDS,
    PROTOCOL_VERSION,
    SHARED_BYTES,
    STREAMS,
    STREAMS_OFFSET,
)

FOREVER_NS: Final = (1 << 63) - 1
CLOCK_REALTIME_COARSE = 5  # <linux/time.h>; the time module has no name for it

NOW: Final = PAGE_FIELDS["now_ns"]
LOOKAHEAD: Final = PAGE_FIELDS["lookahead_ns"]
EVENT: Final = PAGE_FIELDS["event_ns"]
REALTIME: Final = PAGE_FIELDS["realtime_ns"]
MONOTONIC: Final = PAGE_FIELDS["monotonic_ns"]
READ_COST: Final = PAGE_FIELDS["read_cost_ns"]
POLL_COST: Final = PAGE_FIELDS["poll_cost_ns"]
CALL_COST: Final = PAGE_FIELDS["call_cost_ns"]
PREEMPT: Final = PAGE_FIELDS["preempt"]
LOCAL_SLEEPS: Final = PAGE_FIELDS["local_sleeps"]
HANDOFFS: Final = PAGE_FIELDS["handoffs"]
SEQUENCE: Final = PAGE_FIELDS["sequence"]
DUE: Final = PAGE_FIELDS["due_ns"]
DUE_SEQUENCE: Final = PAGE_FIELDS["due_sequence"]
REMOTE_HANDOFFS: Final = PAGE_FIELDS["remote_handoffs"]
DOORBELL: Final = PAGE_FIELDS["doorbell"]
LISTENS_AT_DOORBELL: Final = PAGE_FIELDS["listens_at_doorbell"]
RUNNING: Final = PAGE_FIELDS["running"]
SIBLINGS_READY: Final = PAGE_FIELDS["siblings_ready"]
CLOCK_READS: Final = PAGE_FIELDS["clock_reads"]
TRAPS: Final = PAGE_FIELDS["traps"]
PRELOADED: Final = PAGE_FIELDS["preloaded"]
MESSAGES: Final = PAGE_FIELDS["messages"]
LOCK_WAITERS: Final = PAGE_FIELDS["lock_waiters"]
QUEUE_NOTIFIES: Final = PAGE_FIELDS["queue_notifies"]
MAY_HAVE_WOKEN: Final = PAGE_FIELDS["may_have_woken"]
BEGUN: Final = PAGE_FIELDS["begun_ns"]
QUANTUM: Final = PAGE_FIELDS["quantum_ns"]
COMPUTING_SLOT: Final = PAGE_FIELDS["computing_slot"]
COMPUTING_SINCE: Final = PAGE_FIELDS["computing_since_ns"]
NICE: Final = PAGE_FIELDS["nice"]
FROM_OUTSIDE: Final = PAGE_FIELDS["from_outside"]
STORAGE_CONDITIONS: Final = PAGE_FIELDS["storage_conditions"]
TRACEES: Final = PAGE_FIELDS["tracees"]
TRACE_NEWS: Final = PAGE_FIELDS["trace_news"]
EXCLUSIVE_FILES: Final = PAGE_FIELDS["exclusive_files"]
VERSION: Final = PAGE_FIELDS["version"]
DEVICES: Final = PAGE_FIELDS["devices"]
DEVICE_PROGRAMS: Final = PAGE_FIELDS["device_programs"]


@dataclass(frozen=True, slots=True)
class Costs:
    """Virtual nanoseconds that a call takes: a clock read, a poll that does not wait, any other system call."""

    read_ns: int = 50
    poll_ns: int = 1000
    call_ns: int = 200


def next_tick_ns() -> int:
    """Wait for a tick of the clock with which the kernel stamps files: all stamps made before are older than the tick.

    Since Linux 6.13 some stamps are of the fine clock, which is up to a tick ahead of the coarse one.
    """
    before = time.clock_gettime_ns(time.CLOCK_REALTIME)
    while (now := time.clock_gettime_ns(CLOCK_REALTIME_COARSE)) <= before:
        time.sleep(0.0005)
    return now


class ClockPage:
    """Shared memory with `words[NOW]` and its neighbours, all in nanoseconds; also the kernel's clock.

    Emulated processes can write here, so what they write is never trusted to go backwards: `now_ns` only grows.
    """

    def __init__(self, epoch_ns: int, uptime_ns: int, costs: Costs, begun_ns: int = FOREVER_NS) -> None:
        self.fd = os.memfd_create("simunix-clock", os.MFD_CLOEXEC)
        os.ftruncate(self.fd, SHARED_BYTES)  # pages that are never written take no memory
        self._memory = mmap.mmap(self.fd, SHARED_BYTES)
        self.shared = ffi.from_buffer(self._memory)
        self.boxes = Boxes(self.fd)
        self.words = memoryview(self._memory)[: mmap.PAGESIZE].cast("Q")
        self._streams = memoryview(self._memory)[STREAMS_OFFSET : STREAMS_OFFSET + 4 * STREAMS].cast("I")
        self._now_ns = 0
        self.words[EVENT] = self.words[DUE] = FOREVER_NS
        self.words[READ_COST] = costs.read_ns
        self.words[POLL_COST] = costs.poll_ns
        self.words[CALL_COST] = costs.call_ns
        self.words[BEGUN] = begun_ns
        struct.pack_into("=qq", self._memory, REALTIME * 8, epoch_ns, uptime_ns)
        struct.pack_into("=q", self._memory, NICE * 8, os.getpriority(os.PRIO_PROCESS, 0))
        self.words[VERSION] = PROTOCOL_VERSION

    def tell_charging(self, charging: Charging, tsc_ns: int) -> None:
        """Tell the shims how the CPU policy charged measures; `tsc_ns` is 2^-32 ns for each cycle of the time stamp counter."""
        for name, value in (
            ("charge_least_ns", charging.least_ns),
            ("charge_least_cycles", (charging.least_ns << 32) // tsc_ns),
            ("tsc_ns", tsc_ns),
            ("replays_charges", lib.REPLAY_NONE if charging.replay is None else lib.REPLAY_GOES_ON),
        ):
            self.words[PAGE_FIELDS[name]] = value

    def tell_departure(self) -> None:
        """Tell the shims that a replay has departed from its recording."""
        self.words[PAGE_FIELDS["replays_charges"]] = lib.REPLAY_HAS_DEPARTED

    def tell_storage_conditions(self, count: int) -> None:
        """Tell the shims how many storages are read-only, full or failing."""
        self.words[STORAGE_CONDITIONS] = count

    def tell_device(self, inode: int) -> None:
        """Tell the shims that a file with this inode stands for a device (csrc/shim/sys/device/device.c)."""
        bit = (inode * 0x9E3779B97F4A7C15 & (1 << 64) - 1) * 64 * DEVICE_WORDS >> 64
        self.words[DEVICE_INODES + bit // 64] |= 1 << bit % 64
        self.words[DEVICES] += 1

    def tell_device_programs(self, groups: int) -> None:
        """Tell the shims how many groups have programs that say who may open devices."""
        self.words[DEVICE_PROGRAMS] = groups

    @property
    def now_ns(self) -> int:
        """Virtual nanoseconds since the start; actors advance the clock by reading it, and by sleeping while they are alone."""
        now = self.words[NOW]
        if now > self._now_ns:
            self._now_ns = now
        return self._now_ns

    @property
    def known_ns(self) -> int:
        """What the clock said when the server last looked."""
        return self._now_ns

    def advance_to(self, moment_ns: int) -> None:
        """Move the clock on to a moment; a moment that is past changes nothing."""
        if moment_ns > self.now_ns:
            self._now_ns = moment_ns
        self.words[NOW] = self._now_ns

    def answer(self, slot: int, wake: int, value: int) -> None:
        """Give the turn to the thread that waits at a slot."""
        lib.slot_answer(self.shared, slot, wake, value)

    def answer_operation(self, slot: int, wake: int, status: int, data: bytes) -> None:
        """Give the turn to the thread that waits at a slot, with the bytes of an answer in its box."""
        self.boxes.answer(slot, data)
        lib.slot_answer(self.shared, slot, wake, status)

    def begin_slot(self, slot: int) -> None:
        """Prepare a slot for a thread that is about to be born."""
        lib.slot_reset(self.shared, slot)

    def tid_at(self, slot: int) -> int:
        """The thread id, in the PID namespace of its process, of a thread that waits at its slot for its first turn."""
        return int(lib.slot_tid(self.shared, slot))

    def tell_stream(self, number: int, what: int) -> None:
        """Tell the shims of a stream socket, so that they need not ask: bits of enum simunix_stream, 0 if connected."""
        self._streams[number % STREAMS] = (number | what) & 0xFFFFFFFF

    def forget_stream(self, number: int) -> None:
        """Have the shims ask about a stream socket again."""
        self._streams[number % STREAMS] = 0

    def await_doorbell(self, seen: int, patience_ns: int) -> None:
        """Wait until the doorbell has been rung since its count was `seen`, or until some real time has passed."""
        lib.doorbell_wait(self.shared, seen & 0xFFFFFFFF, patience_ns)

    def calls(self) -> int:
        """How many calls and clock reads all actors have made; computing leaves this number as it is."""
        return self.system_calls() + self.words[CLOCK_READS]

    def system_calls(self) -> int:
        """How many calls other than clock reads all actors have made."""
        return self.words[TRAPS] + self.words[PRELOADED]

    def counters(self) -> dict[str, int]:
        """What the shims have counted for the whole run."""
        words = self.words
        return {
            "local_sleeps": words[LOCAL_SLEEPS],
            "steps": words[HANDOFFS],
            "clock_reads": words[CLOCK_READS],
            "traps": words[TRAPS],
            "preloaded_calls": words[PRELOADED],
            "messages": words[MESSAGES],
        }

    def close(self) -> None:
        """Release the mapping and its descriptor."""
        self.boxes.close()
        self.words.release()
        self._streams.release()
        self.shared = None
        self._memory.close()
        os.close(self.fd)
