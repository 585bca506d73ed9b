"""The wall clock (CLOCK_REALTIME) of each host, which faults may set, and let drift.

Shims add one word of the shared memory to the virtual time. Only the actor that has the turn reads clocks. So, when the
server gives an actor the turn, the server writes into this word by how much the clock of the actor's host is ahead. So
a run in which a clock is set must give all turns by the server: its order of turns allows no hand-offs
(rsg_server/turn/choosing.py: ChosenOrder). CLOCK_MONOTONIC is the same on all hosts.

During a turn, a drifting clock goes as fast as virtual time. When the next turn of the host begins, the server adds to
the word what the clock has gained or lost meanwhile. Invariant: a clock that loses time never shows an earlier time than
before, since no more is taken away at once than has passed since the last turn of the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rsg_server.protocol import PAGE_FIELDS, QUANTUM_NS

_NOW: Final = PAGE_FIELDS["now_ns"]
_REALTIME: Final = PAGE_FIELDS["realtime_ns"]
_WORD: Final = (1 << 64) - 1
CALL_NS: Final = 100
"""At least this long (virtual ns) is between the last clock read of a turn and the first one of the next turn: half a call."""


@dataclass(slots=True)
class Drift:
    """How fast a clock drifts (ppm; above 0: it gains), since when, how far it had drifted before, and what was shown last."""

    ppm: float
    since_ns: int
    before_ns: int
    shown_ns: int
    shown_at_ns: int

    def at(self, now_ns: int) -> int:
        """How far the clock has drifted by a moment of virtual time, in ns."""
        return self.before_ns + int((now_ns - self.since_ns) * self.ppm / 1e6)

    def show(self, now_ns: int) -> int:
        """How far the clock is to be shown to have drifted; less than before only as far as time has passed meanwhile."""
        passed_ns = CALL_NS + max(now_ns - self.shown_at_ns - QUANTUM_NS, 0)
        self.shown_ns, self.shown_at_ns = max(self.at(now_ns), self.shown_ns - passed_ns), now_ns
        return self.shown_ns


class WallClocks:
    """By how much the clock of each host is ahead of the run's: virtual time since `epoch_ns`."""

    def __init__(self, words: memoryview, epoch_ns: int) -> None:
        self._words, self._epoch_ns = words, epoch_ns
        self._ahead: dict[str, int] = {}
        self._drifts: dict[str, Drift] = {}
        self.shown_epoch_ns = epoch_ns
        """What CLOCK_REALTIME shows at virtual time 0, in ns since 1970, on the host that has the turn."""

    def ahead_ns(self, host: str) -> int:
        """By how many nanoseconds the clock of a host has been set ahead; below 0 if it was set back. Drift is not included."""
        return self._ahead.get(host, 0)

    def drift_ppm(self, host: str) -> float:
        """How fast the clock of a host drifts, in parts per million; 0 if it does not."""
        drift = self._drifts.get(host)
        return 0.0 if drift is None else drift.ppm

    def set(self, host: str, ahead_ns: int) -> None:
        """Set the clock of a host; a drift begins anew. Only an action of the timeline may call this: no actor has the turn."""
        self._ahead[host] = ahead_ns
        if host in self._drifts:
            ppm = self._drifts.pop(host).ppm
            self.set_drift(host, ppm)

    def set_drift(self, host: str, ppm: float) -> None:
        """Let the clock of a host drift from now on; at 0 the clock is set right, so that it is as far ahead as it was set.

        Only an action of the timeline may call this: no actor has the turn then.
        """
        now_ns, drift = self._words[_NOW], self._drifts.pop(host, None)
        self._ahead.setdefault(host, 0)
        if ppm:
            before_ns = 0 if drift is None else drift.at(now_ns)
            shown_ns = 0 if drift is None else drift.shown_ns
            self._drifts[host] = Drift(ppm, now_ns, before_ns, shown_ns, now_ns)

    def show(self, host: str) -> None:
        """Show the clock of a host to the actor that is about to get the turn."""
        if self._ahead:
            ahead_ns, drift = self._ahead.get(host, 0), self._drifts.get(host)
            if drift is not None:
                ahead_ns += drift.show(self._words[_NOW])
            self.shown_epoch_ns = self._epoch_ns + ahead_ns
            self._words[_REALTIME] = self.shown_epoch_ns & _WORD
