"""Deadlines in shared memory, which processes may let come without the server (csrc/shared/timer_queue.c)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rsg_server.observers import Observers

if TYPE_CHECKING:
    from rsg_server.shared.deadlines import Deadlines


class Alarm:
    """The deadline of the thread with a slot; may be cancelled as long as it has not come."""

    __slots__ = ("_deadlines", "_slot")

    def __init__(self, deadlines: Deadlines, slot: int) -> None:
        self._deadlines = deadlines
        self._slot = slot

    def cancel(self) -> None:
        """Remove the deadline; nothing happens if it has come."""
        self._deadlines.remove(self._slot)


class TimerQueue:
    """The deadlines of slots; `on_alarm` is told of a slot when its deadline has come.

    Emulated processes write to the queue, so a slot may have no actor.
    """

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self.on_alarm: Observers[int] = Observers()

    @property
    def address(self) -> Any:
        """Where the shared memory is, for the core (csrc/turn/)."""
        return self._deadlines.address

    def next_sequence(self) -> int:
        """A number that no deadline or event has had: what is due at one moment happens in the order of these numbers."""
        return self._deadlines.next_sequence()

    def add(self, slot: int, at_ns: int) -> Alarm:
        """Have the timer queue ring for a slot at `at_ns`."""
        self._deadlines.add(slot, at_ns)
        return self.alarm(slot)

    def alarm(self, slot: int) -> Alarm:
        """The deadline that a slot has already, set by its process."""
        return Alarm(self._deadlines, slot)

    @property
    def next_ns(self) -> int:
        """The moment of the earliest deadline; FOREVER_NS if there is none."""
        return self._deadlines.next_ns

    @property
    def next_order(self) -> tuple[int, int]:
        """Moment and sequence number of the earliest deadline."""
        return self._deadlines.next_order

    def run_next(self) -> None:
        """Let the earliest deadline come."""
        self.come(self._deadlines.pop())

    def come(self, slot: int) -> None:
        """The deadline of a slot has come, and was taken out of the queue."""
        self.on_alarm.tell(slot)
