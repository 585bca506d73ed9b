"""The clock of Remote SimGrid: seconds, as SimGrid counts them, within the emulation's nanoseconds.

Invariant: `date_s`, rounded up to the nanosecond, is `tick_ns`, and the emulation's clock is never before that. A date is
what SimGrid would compute, to the last bits. If an event wakes an actor, the activities that the actor then begins have
the date of the event, not the date of the next full nanosecond. When the emulation's clock has gone on for another
reason (a price, a message of TCP), the date follows.

Events within 1e-9 s happen at one instant, as in SimGrid: first timers, then ends of executions, then ends of
communications, each in the order in which they were started.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from rsg_server.network.engine import SIMGRID_PRECISION_S, FlowEngine

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event, Timeline
    from rsg_server.network.network import Clock

NS = 1e9
ROUNDING_NS = 1e-3
"""A date that is later than a nanosecond by at most this part of one counts as that nanosecond: 0.1 s + 0.2 s is 0.3 s."""
FOREVER_NS = 1 << 62


class Timer:
    """An action that happens at a date, unless it is cancelled before."""

    __slots__ = ("action", "date_s")

    def __init__(self, date_s: float, action: Callable[[], None] | None) -> None:
        self.date_s = date_s
        self.action = action

    def cancel(self) -> None:
        """Cancel the action, if it has not happened."""
        self.action = None


class Moments:
    """The date, the timers, and the engine that moves flows and executions.

    `ended` is called with the numbers of flows that have ended. `take_others` is called, before the clock moves, with
    those flows of the emulated network whose rates change because of flows of the engine.
    """

    def __init__(
        self,
        clock: Clock,
        timeline: Timeline,
        engine: FlowEngine,
        ended: Callable[[list[int]], None],
        take_others: Callable[[list[int]], None],
    ) -> None:
        self.engine = engine
        self.date_s = 0.0
        self.tick_ns = 0
        self.is_unsettled = False  # whether something has begun or ended since the next event was put into the timeline
        self._clock, self._timeline = clock, timeline
        self._ended = ended
        self._take_others = take_others
        self._timers: list[tuple[float, int, Timer]] = []
        self._sequence = 0
        self._event: Event | None = None
        self._event_ns = FOREVER_NS
        engine.tell_ends()

    def after(self, duration_s: float, action: Callable[[], None]) -> Timer:
        """Have `action` called after so many seconds, and return its timer."""
        timer = Timer(self.date_s + duration_s, action)
        self._sequence += 1
        heapq.heappush(self._timers, (timer.date_s, self._sequence, timer))
        self.is_unsettled = True
        return timer

    def follow(self) -> None:
        """Move the date to the time of the emulation's clock, which other parts may have moved."""
        now_ns = self._clock.now_ns
        if now_ns > self.tick_ns:
            self.tick_ns = now_ns  # set first, since actions that happen here may ask for the date
            self._advance(now_ns / NS)

    def _next_s(self) -> float:
        while self._timers and self._timers[0][2].action is None:
            heapq.heappop(self._timers)
        flow_s = self.engine.next_s
        return min(flow_s, self._timers[0][0]) if self._timers else flow_s

    def _advance(self, until_s: float) -> None:
        """Let everything happen that is due up to a date, and move the date there."""
        while (next_s := self._next_s()) <= until_s:
            self._instant(max(next_s, self.date_s))
        self.date_s = max(self.date_s, until_s)
        self.engine.advance(self.date_s)

    def _instant(self, date_s: float) -> None:
        self.date_s = date_s
        self.engine.instant(date_s)
        ends = self.engine.ends()
        while self._timers and self._timers[0][0] <= date_s + SIMGRID_PRECISION_S:
            action = heapq.heappop(self._timers)[2].action
            if action is not None:
                action()
        if ends:
            self._ended(ends)

    def settle(self) -> None:
        """Put the next event into the timeline. The method is called before the emulation's clock moves."""
        self.is_unsettled = False
        self.engine.advance(self.date_s)
        if ends := self.engine.ends():  # let activities that take no time end now
            self.is_unsettled = True
            self._ended(ends)
            return
        next_s = self._next_s()
        if others := self.engine.others():
            self._take_others(others)
        moment_ns = FOREVER_NS if next_s >= FOREVER_NS / NS else math.ceil(next_s * NS - ROUNDING_NS)
        if moment_ns == self._event_ns:
            return
        if self._event is not None:
            self._event.cancel()
            self._event = None
        self._event_ns = moment_ns
        if moment_ns < FOREVER_NS:
            self._event = self._timeline.add(max(moment_ns, self._clock.now_ns), self._happen)

    def _happen(self) -> None:
        """Let everything happen that is due at the next date; the timeline calls this."""
        self._event, self._event_ns = None, FOREVER_NS
        self.is_unsettled = True
        next_s = self._next_s()
        if next_s * NS - ROUNDING_NS <= self._clock.now_ns:
            self.tick_ns = max(self.tick_ns, self._clock.now_ns)
            self._instant(max(next_s, self.date_s))
