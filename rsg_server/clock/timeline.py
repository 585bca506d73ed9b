"""The events of the emulation: actions in total order of virtual time, then of adding."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rsg_server.clock.timer_queue import TimerQueue

Action = Callable[[], None]
_COMPACT_AT_LEAST: Final = 1024
"""How many cancelled events make it worth while to rebuild the heap."""
END_NS: Final = (1 << 63) - 1
"""The end of virtual time, in nanoseconds."""


class Event:
    """An action that is due at a moment; may be cancelled until it has happened."""

    __slots__ = ("_timeline", "action")

    def __init__(self, action: Action | None, timeline: Timeline) -> None:
        self.action = action
        self._timeline = timeline

    def cancel(self) -> None:
        """Cancel the event; nothing changes if it has happened or been cancelled already."""
        if self.action is not None:
            self.action = None
            self._timeline.forget_one()


class Timeline:
    """A heap of (nanoseconds, sequence number, event); cancelled events stay until they come up or are too many.

    The timer queue, if there is one, is part of the timeline: the deadlines that processes may also let come by themselves.
    """

    def __init__(self, timer_queue: TimerQueue | None = None) -> None:
        self._timer_queue = timer_queue
        self._heap: list[tuple[int, int, Event]] = []
        self._sequence = 0
        self._cancelled = 0

    def __len__(self) -> int:
        return len(self._heap) - self._cancelled

    def add(self, at_ns: int, action: Action) -> Event:
        """Have `action` called at `at_ns`; events of one moment happen in the order in which they were added.

        An event at the end of time never happens: clocks are signed numbers of 64 bits.
        """
        if at_ns >= END_NS:
            return Event(None, self)
        event = Event(action, self)
        self._sequence = self._timer_queue.next_sequence() if self._timer_queue is not None else self._sequence + 1
        heapq.heappush(self._heap, (at_ns, self._sequence, event))
        return event

    def forget_one(self) -> None:
        """Account for a cancelled event; rebuild the heap when most of it is cancelled."""
        self._cancelled += 1
        if self._cancelled > _COMPACT_AT_LEAST and 2 * self._cancelled > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].action is not None]
            heapq.heapify(self._heap)
            self._cancelled = 0

    @property
    def next_ns(self) -> int | None:
        """The moment of the next event, None if nothing is due."""
        own = self.next_own_ns
        if self._timer_queue is None:
            return own
        due = self._timer_queue.next_ns
        return due if due < (END_NS if own is None else own) else own

    @property
    def next_own_ns(self) -> int | None:
        """The moment of the next event outside of the timer queue, None if nothing is due."""
        heap = self._heap
        while heap:
            if heap[0][2].action is not None:
                return heap[0][0]
            heapq.heappop(heap)
            self._cancelled -= 1
        return None

    def is_ordered(self) -> bool:
        """Whether no event stands in the heap before one that comes earlier."""
        heap = self._heap
        return all(heap[(place - 1) // 2][:2] < heap[place][:2] for place in range(1, len(heap)))

    def run_due(self, now_ns: int) -> None:
        """Let all events happen that are due until `now_ns`, those included that they add."""
        while (due := self.next_ns) is not None and due <= now_ns:
            if self._timer_queue is not None and (not self._heap or self._timer_queue.next_order < self._heap[0][:2]):
                self._timer_queue.run_next()
                continue
            event = heapq.heappop(self._heap)[2]
            action, event.action = event.action, None
            if action is not None:
                action()
