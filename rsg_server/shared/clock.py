"""Virtual time in shared memory, and how far the actor that has the turn may advance it without the server.

`now` never decreases. While an actor has the turn, only deadlines of the timer queue are due before `lookahead`. Until
then the actor may set `now` to the earliest of these deadlines by itself. A `lookahead` of 0 forbids the actor to move
the clock, because other actors are ready. `event` is the moment at which something is due or other actors must run: an
actor that reads a later time from the clock gives the turn back.
"""

from __future__ import annotations

from typing import Final

from rsg_server.protocol import PAGE_FIELDS

FOREVER_NS: Final = (1 << 63) - 1
LATEST_NS: Final = (1 << 62) - 1
"""A clock that shows a later time (146 years) has been overwritten by a process.

Sums of moments and durations stay below 2^63.
"""

_NOW: Final = PAGE_FIELDS["now_ns"]
_LOOKAHEAD: Final = PAGE_FIELDS["lookahead_ns"]
_EVENT: Final = PAGE_FIELDS["event_ns"]


class Clock:
    """Virtual time in nanoseconds since the start of the run.

    Emulated processes can write to this memory. If a process sets the clock back, `now_ns` keeps its value.
    """

    def __init__(self, words: memoryview) -> None:
        self._words = words
        self._now_ns = 0
        words[_EVENT] = FOREVER_NS

    @property
    def now_ns(self) -> int:
        """Virtual time, in ns since the start.

        Actors advance it when they read the clock, and when they sleep while no other is ready.
        """
        now: int = self._words[_NOW]
        if self._now_ns < now <= LATEST_NS:
            self._now_ns = now
        return self._now_ns

    @property
    def known_ns(self) -> int:
        """The virtual time (ns) that the clock showed when the server last read it."""
        return self._now_ns

    def saw(self, now_ns: int) -> None:
        """Record a time that the server's C code has read from the clock."""
        if now_ns > self._now_ns:
            self._now_ns = now_ns

    @property
    def told_ns(self) -> int:
        """The time in shared memory, unchecked: an emulated process may have written any number
        (rsg_server.turn.clock_guard).
        """
        told: int = self._words[_NOW]
        return told

    @property
    def lookahead_ns(self) -> int:
        """The moment (virtual ns) up to which the actor with the turn may move the clock; 0 if that actor may not move
        the clock.
        """
        lookahead: int = self._words[_LOOKAHEAD]
        return lookahead

    def advance_to(self, moment_ns: int) -> None:
        """Move the clock forward to a moment (virtual ns). A moment in the past changes nothing."""
        if moment_ns > self.now_ns:
            self._now_ns = moment_ns
        self._words[_NOW] = self._now_ns

    def put_back(self) -> None:
        """Set the clock back to the last value that the server has read, because a process has overwritten it."""
        self._words[_NOW] = self._now_ns
