"""The wall clock (CLOCK_REALTIME) of each host, which faults may set.

Shims add one word of the shared memory to the virtual time. Only the actor that has the turn reads clocks. So, when the
server gives an actor the turn, the server writes into this word by how much the clock of the actor's host is ahead. So
a run in which a clock is set must give all turns by the server: its order of turns allows no hand-offs
(rsg_server/turn/choosing.py: ChosenOrder). CLOCK_MONOTONIC is the same on all hosts.
"""

from __future__ import annotations

from typing import Final

from rsg_server.protocol import PAGE_FIELDS

_REALTIME: Final = PAGE_FIELDS["realtime_ns"]
_WORD: Final = (1 << 64) - 1


class WallClocks:
    """By how much the clock of each host is ahead of the run's: virtual time since `epoch_ns`."""

    def __init__(self, words: memoryview, epoch_ns: int) -> None:
        self._words, self._epoch_ns = words, epoch_ns
        self._ahead: dict[str, int] = {}
        self.shown_epoch_ns = epoch_ns
        """What CLOCK_REALTIME shows at virtual time 0, in ns since 1970, on the host that has the turn."""

    def ahead_ns(self, host: str) -> int:
        """By how many nanoseconds the clock of a host is ahead; below 0 if it is behind."""
        return self._ahead.get(host, 0)

    def set(self, host: str, ahead_ns: int) -> None:
        """Set the clock of a host. Only an action of the timeline may call this: no actor has the turn then."""
        self._ahead[host] = ahead_ns

    def show(self, host: str) -> None:
        """Show the clock of a host to the actor that is about to get the turn."""
        if self._ahead:
            self.shown_epoch_ns = self._epoch_ns + self._ahead.get(host, 0)
            self._words[_REALTIME] = self.shown_epoch_ns & _WORD
