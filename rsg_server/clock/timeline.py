"""The events of the emulation, ordered by virtual time; events of one moment are in the order in which they were added."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from rsg_server._native import ffi, lib

if TYPE_CHECKING:
    from rsg_server.clock.timer_queue import TimerQueue

Action = Callable[[], None]
END_NS: Final = (1 << 63) - 1
"""The end of virtual time, in nanoseconds."""
_EVENT: Final[int] = lib.DUE_EVENT
_ALARM: Final[int] = lib.DUE_ALARM
_TIE: Final[int] = lib.DUE_TIE


class Event:
    """An action that happens at a moment of virtual time, unless it is cancelled before."""

    __slots__ = ("_timeline", "action", "handle")

    def __init__(self, action: Action | None, timeline: Timeline) -> None:
        self.action = action
        self.handle = 0
        self._timeline = timeline

    def cancel(self) -> None:
        """Cancel the event, unless it has happened or has been cancelled already."""
        if self.action is not None:
            self.action = None
            self._timeline.forget(self.handle)


class Timeline:
    """The events of a run and the deadlines of waiting actors, in a heap (csrc/turn/waits/timeline.c).

    `core` is the struct timeline of C. The timer queue in shared memory, if there is one, is part of the timeline: it
    has the deadlines that emulated processes may let come without the server.
    """

    def __init__(self, timer_queue: TimerQueue | None = None) -> None:
        self._timer_queue = timer_queue
        self._shared: Any = ffi.NULL if timer_queue is None else timer_queue.address
        self.core: Any = ffi.gc(lib.timeline_new(), lib.timeline_free)
        self._events: dict[int, Event] = {}  # by the number that C has given the event
        self._parking: Any = ffi.NULL
        self._comes_later: Callable[[Any], bool] | None = None
        self._which: Any = ffi.new("uint32_t *")
        self._sequence = 0

    def __len__(self) -> int:
        count: int = self.core.count
        return count

    def let_come(self, parking: Any) -> None:
        """Set the struct parking of C whose actors get the deadlines that come.

        The struct must exist as long as the timeline.
        """
        self._parking = parking

    def choose_ties(self, comes_later: Callable[[Any], bool]) -> None:
        """Have `comes_later` decide which comes first when a deadline of an actor and an event have the same moment.

        The argument of `comes_later` is the record of the actor; the function returns True if the event comes first.
        """
        self._comes_later = comes_later
        lib.parking_ask_ties(self._parking)

    def settle_tie(self) -> None:
        """Ask the function of `choose_ties` what comes first: the deadline that is due, or an event of the same moment."""
        record = lib.due_first(self.core, self._shared, self._parking)
        is_behind = bool(record) and self._comes_later is not None and self._comes_later(record)
        lib.due_settle(self.core, self._shared, self._parking, is_behind)

    def add(self, at_ns: int, action: Action) -> Event:
        """Have `action` called at virtual time `at_ns`, and return the event.

        Events of one moment happen in the order in which they were added. An event at END_NS or later never happens:
        clocks are signed numbers of 64 bits.
        """
        if at_ns >= END_NS:
            return Event(None, self)
        event = Event(action, self)
        self._sequence = self._timer_queue.next_sequence() if self._timer_queue is not None else self._sequence + 1
        event.handle = lib.timeline_add(self.core, at_ns, self._sequence, ffi.NULL)
        self._events[event.handle] = event
        return event

    def forget(self, handle: int) -> None:
        """Remove a cancelled event, given by the number that C has for it."""
        del self._events[handle]
        lib.timeline_remove(self.core, handle)

    @property
    def next_ns(self) -> int | None:
        """The moment (virtual ns) of the next event or deadline; None if nothing is due."""
        due: int = lib.due_next(self.core, self._shared)
        return None if due == END_NS else due

    @property
    def next_own_ns(self) -> int | None:
        """The moment (virtual ns) of the next event that is not in the timer queue of shared memory; None if there is none."""
        due: int = lib.timeline_next(self.core)
        return None if due == END_NS else due

    def is_ordered(self) -> bool:
        """Return whether the heap is in order: no entry has an earlier moment than the entry above it."""
        heap = [(entry.at_ns, entry.sequence) for entry in self.core.entries[0 : len(self)]]
        return all(heap[(place - 1) // 2] < heap[place] for place in range(1, len(heap)))

    def take(self, handle: int) -> Action:
        """Return the action of an event whose moment has come, and forget the event."""
        event = self._events.pop(handle)
        action, event.action = event.action, None
        assert action is not None
        return action

    def run_due(self, now_ns: int) -> None:
        """Let all events happen whose moment is `now_ns` or earlier, also those that are added meanwhile."""
        while (step := lib.due_step(self.core, self._shared, self._parking, now_ns, self._which)) != lib.DUE_NOTHING:
            if step == _EVENT:
                self.take(self._which[0])()
            elif step == _TIE:
                self.settle_tie()
            elif step == _ALARM and self._timer_queue is not None:
                self._timer_queue.come(self._which[0])
