"""The timer queue: deadlines in shared memory, which shims may let come without the server (csrc/shared/timer_queue.c)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rsg_server.observers import Observers

if TYPE_CHECKING:
    from rsg_server.shared.deadlines import Deadlines


class Alarm:
    """The deadline of a waiting thread, which is given by its slot. The deadline may be cancelled until it has come."""

    __slots__ = ("_deadlines", "_slot")

    def __init__(self, deadlines: Deadlines, slot: int) -> None:
        self._deadlines = deadlines
        self._slot = slot

    def cancel(self) -> None:
        """Remove the deadline from the timer queue, unless it has come already."""
        self._deadlines.remove(self._slot)


class TimerQueue:
    """The deadlines in shared memory, one for each slot at most. `on_alarm` tells observers the slot whose deadline has come.

    Emulated processes write to this memory, so a slot may have no actor.
    """

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self.on_alarm: Observers[int] = Observers()

    @property
    def address(self) -> Any:
        """The address of the timer queue in shared memory, for the server's C code (csrc/turn/)."""
        return self._deadlines.address

    def next_sequence(self) -> int:
        """Return a new sequence number. Deadlines and events of one moment happen in the order of these numbers."""
        return self._deadlines.next_sequence()

    def add(self, slot: int, at_ns: int) -> Alarm:
        """Add a deadline at `at_ns` (virtual ns) for the thread that waits at a slot, and return it."""
        self._deadlines.add(slot, at_ns)
        return self.alarm(slot)

    def alarm(self, slot: int) -> Alarm:
        """Return the deadline of a slot that the thread's process has added already."""
        return Alarm(self._deadlines, slot)

    @property
    def next_ns(self) -> int:
        """The moment (virtual ns) of the earliest deadline; FOREVER_NS if there is none."""
        return self._deadlines.next_ns

    @property
    def next_order(self) -> tuple[int, int]:
        """The moment (virtual ns) and the sequence number of the earliest deadline."""
        return self._deadlines.next_order

    def run_next(self) -> None:
        """Let the earliest deadline come: remove it, and tell the observers of `on_alarm`."""
        self.come(self._deadlines.pop())

    def come(self, slot: int) -> None:
        """Tell the observers of `on_alarm` that the deadline of a slot has come; it has been removed from the queue."""
        self.on_alarm.tell(slot)
