"""Parts of a server without its kernel, for tests of what uses only them: compiled modules take no fakes in their place."""

from __future__ import annotations

import mmap
from functools import cache

from rsg_server.clock.timeline import Timeline
from rsg_server.clock.timer_queue import TimerQueue
from rsg_server.order import FirstInFirstOut
from rsg_server.process.parking import Parking
from rsg_server.process.run_queue import RunQueue
from rsg_server.process.slots import Slots
from rsg_server.shared.clock import Clock
from rsg_server.shared.memory import SharedMemory
from rsg_server.shared.prices import Costs


@cache
def _shared() -> SharedMemory:
    """Memory in which nobody puts a deadline; it lasts as long as the tests."""
    return SharedMemory(0, 0, Costs())


def new_clock() -> Clock:
    """A clock that stands at 0 until the test moves it."""
    return Clock(memoryview(bytearray(mmap.PAGESIZE)).cast("Q"))


def new_parking(timeline: Timeline) -> Parking:
    """Parks actors without slots, and puts those that it wakes into a run queue of its own."""
    return Parking(RunQueue(FirstInFirstOut()), timeline, TimerQueue(_shared().deadlines), Slots())
