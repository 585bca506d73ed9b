"""Checks that the virtual time in shared memory is possible: every emulated process can write there, also by mistake.

Between two messages the clock moves forward by the prices of calls, by CPU time, and up to the next event of the
server. The clock never moves back. A small step forward is not examined further, so that the check costs one comparison
at most messages.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rsg_server.errors import ServerError
from rsg_server.turn.allowance import SOLO_LIMIT_NS

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.diagnosis.disturbances import Disturbances
    from rsg_server.process.actor import Actor
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.shared.clock import Clock
    from rsg_server.shared.prices import Costs

JUMP_NS = 10**9
"""A jump of the clock up to this length (ns) is not examined.

A jump beyond what is due may be as long, since a scenario sets the prices of calls.
"""
CALLS = 200
"""The most calls that an actor makes after something has become due (csrc/shim/turn/price.c)."""
ASKING_FACTOR = 1000
"""How many times faster than real time the clock may run while a single actor does nothing but read it."""


class ClockGuard:
    """Checks virtual time after each turn."""

    def __init__(self, clock: Clock, timeline: Timeline, costs: Costs, disturbances: Disturbances, deaths: Deaths) -> None:
        self._clock, self._timeline, self._costs = clock, timeline, costs
        self._disturbances, self._deaths = disturbances, deaths

    def check(self, actor: Actor, holder_since: float) -> None:
        """Check the virtual time after an actor's turn.

        If the clock went back, or beyond what is due, the actor's process is killed, and ServerError is raised.
        """
        clock = self._clock
        now, before = clock.told_ns, clock.known_ns
        if 0 <= now - before <= JUMP_NS:
            return
        own = self._timeline.next_own_ns
        real_ns = int((time.monotonic() - holder_since) * 1e9)
        latest = before + SOLO_LIMIT_NS + ASKING_FACTOR * real_ns if own is None else max(before, own)
        costs = self._costs
        late_ns = CALLS * max(costs.read_ns, costs.poll_ns, costs.call_ns)
        if before <= now <= latest + JUMP_NS + real_ns + late_ns:
            return
        clock.put_back()
        what = f"{actor!r} wrote over the clock: virtual time went from {before / 1e9:.6f} s to {now / 1e9:.6f} s"
        self._disturbances.note(what)
        self._deaths.kill(actor.process)
        raise ServerError(f"{what}; the process is killed, and what the others would read is worth nothing")
