"""Deadlines in shared memory, which processes may let come without the server (csrc/shared/timer_queue.c)."""

from __future__ import annotations

from collections.abc import Callable

from rsg_server._native import lib
from rsg_server.clock.clock_page import DUE, DUE_SEQUENCE, FOREVER_NS, SEQUENCE, ClockPage


class Alarm:
    """The deadline of the thread with a slot; may be cancelled as long as it has not come."""

    __slots__ = ("_page", "_slot")

    def __init__(self, page: ClockPage, slot: int) -> None:
        self._page = page
        self._slot = slot

    def cancel(self) -> None:
        """Remove the deadline; nothing happens if it has come."""
        lib.timer_queue_remove(self._page.shared, self._slot)


class TimerQueue:
    """The deadlines of slots; `ring` is called with a slot when its deadline has come.

    Emulated processes write to the queue, so a slot may have no actor.
    """

    def __init__(self, page: ClockPage, ring: Callable[[int], None]) -> None:
        self._page = page
        self._ring = ring

    def next_sequence(self) -> int:
        """A number that no deadline or event has had: what is due at one moment happens in the order of these numbers."""
        self._page.words[SEQUENCE] += 1
        return self._page.words[SEQUENCE]

    def add(self, slot: int, at_ns: int) -> Alarm:
        """Have the timer queue ring for a slot at `at_ns`."""
        lib.timer_queue_add(self._page.shared, slot, at_ns)
        return self.alarm(slot)

    def alarm(self, slot: int) -> Alarm:
        """The deadline that a slot has already, set by its process."""
        return Alarm(self._page, slot)

    @property
    def next_ns(self) -> int:
        """The moment of the earliest deadline; FOREVER_NS if there is none."""
        return min(self._page.words[DUE], FOREVER_NS)

    @property
    def next_order(self) -> tuple[int, int]:
        """Moment and sequence number of the earliest deadline."""
        return self._page.words[DUE], self._page.words[DUE_SEQUENCE]

    def run_next(self) -> None:
        """Let the earliest deadline come."""
        self._ring(lib.timer_queue_pop(self._page.shared))
