"""The timer queue in shared memory: the deadlines of slots, in a heap that server and shims change (csrc/shared/timer_queue.c).

Emulated processes can write to this memory, so the heap may contain anything: a slot may have no actor, and a deadline
may be in the past.
"""

from __future__ import annotations

from typing import Any, Final

from rsg_server._native import lib
from rsg_server.protocol import PAGE_FIELDS
from rsg_server.shared.clock import FOREVER_NS

_SEQUENCE: Final = PAGE_FIELDS["sequence"]
_DUE: Final = PAGE_FIELDS["due_ns"]
_DUE_SEQUENCE: Final = PAGE_FIELDS["due_sequence"]
_WORD: Final = (1 << 64) - 1


class Deadlines:
    """The deadlines of slots, ordered by moment, then by sequence number."""

    def __init__(self, words: memoryview, address: Any) -> None:
        self._words = words
        self._address = address
        words[_DUE] = FOREVER_NS

    @property
    def address(self) -> Any:
        """The address of the shared memory, for the server's C code (csrc/turn/)."""
        return self._address

    def next_sequence(self) -> int:
        """Return the next sequence number. Deadlines and events of one moment happen in the order of these numbers."""
        words = self._words
        sequence: int = words[_SEQUENCE] + 1 & _WORD
        words[_SEQUENCE] = sequence
        return sequence

    @property
    def next_ns(self) -> int:
        """The moment (virtual ns) of the earliest deadline; FOREVER_NS if there is none."""
        due: int = self._words[_DUE]
        return min(due, FOREVER_NS)

    @property
    def next_order(self) -> tuple[int, int]:
        """The moment (virtual ns) and the sequence number of the earliest deadline."""
        words = self._words
        return words[_DUE], words[_DUE_SEQUENCE]

    def add(self, slot: int, at_ns: int) -> None:
        """Set the deadline of a slot, which replaces the slot's earlier deadline."""
        lib.timer_queue_add(self._address, slot, at_ns)

    def remove(self, slot: int) -> None:
        """Remove the deadline of a slot, if it has one."""
        lib.timer_queue_remove(self._address, slot)

    def pop(self) -> int:
        """Remove the earliest deadline, and return its slot; 0 if there is no deadline."""
        return int(lib.timer_queue_pop(self._address))

    def misplaced(self) -> int | None:
        """Return the slot of a deadline that is at a wrong place in the heap; None if the heap is in order."""
        timer_queue = lib.timer_queue_of(self._address)
        alarms, places = timer_queue.alarms, timer_queue.places
        for place in range(min(timer_queue.count, len(alarms))):
            above, alarm = alarms[(place - 1) // 2 if place else 0], alarms[place]
            is_late = (above.deadline, above.sequence) <= (alarm.deadline, alarm.sequence)
            if alarm.slot >= len(places) or places[alarm.slot] != place + 1 or not is_late:
                return int(alarm.slot)
        return None

    def close(self) -> None:
        """Forget the address of the shared memory, which is about to be unmapped."""
        self._address = None
