"""Virtual time in shared memory, and the moment up to which the holder of the turn may advance it alone.

`now` never goes back. While an actor has the turn, nothing but deadlines of the timer queue is due before `lookahead`. Up
to that moment the holder may set `now` to the earliest of those deadlines by itself; a `lookahead` of 0 forbids that, since
other actors are ready. `event` is the moment at which something is due, or others are to run: an actor whose clock read
passes it gives the turn back.
"""

from __future__ import annotations

from typing import Final

from rsg_server.protocol import PAGE_FIELDS

FOREVER_NS: Final = (1 << 63) - 1
LATEST_NS: Final = (1 << 62) - 1
"""146 years: a clock that says more has been written over. Sums of moments and spans stay below 2^63."""

_NOW: Final = PAGE_FIELDS["now_ns"]
_LOOKAHEAD: Final = PAGE_FIELDS["lookahead_ns"]
_EVENT: Final = PAGE_FIELDS["event_ns"]


class Clock:
    """Virtual time in nanoseconds since the start.

    Emulated processes can write here, so what they write is never trusted to go backwards: `now_ns` only grows.
    """

    def __init__(self, words: memoryview) -> None:
        self._words = words
        self._now_ns = 0
        words[_EVENT] = FOREVER_NS

    @property
    def now_ns(self) -> int:
        """Virtual nanoseconds since the start. Actors advance the clock by reading it, and by sleeping while they are alone."""
        now: int = self._words[_NOW]
        if self._now_ns < now <= LATEST_NS:
            self._now_ns = now
        return self._now_ns

    @property
    def known_ns(self) -> int:
        """The time that the clock showed when the server last looked."""
        return self._now_ns

    def saw(self, now_ns: int) -> None:
        """Note a time that the core has read from the clock."""
        if now_ns > self._now_ns:
            self._now_ns = now_ns

    @property
    def told_ns(self) -> int:
        """The time in shared memory, unchecked: an emulated process may have written nonsense (rsg_server.turn.clock_guard)."""
        told: int = self._words[_NOW]
        return told

    @property
    def lookahead_ns(self) -> int:
        """The moment up to which the holder of the turn may move the clock; 0 if it may not."""
        lookahead: int = self._words[_LOOKAHEAD]
        return lookahead

    def advance_to(self, moment_ns: int) -> None:
        """Move the clock on to a moment; a moment that is past changes nothing."""
        if moment_ns > self.now_ns:
            self._now_ns = moment_ns
        self._words[_NOW] = self._now_ns

    def put_back(self) -> None:
        """Set the clock back to what it showed when the server last looked, because a process has written over it."""
        self._words[_NOW] = self._now_ns
