"""What a cluster draws at most, and which of its nodes have to be off to keep below a cap. Pure arithmetic.

Every node counts with the full watts of its power state, so what it draws is never more than what is counted here. Nodes go
off from the end of the list, one after the other: so whole chassis and racks go dark, whose own watts are then saved as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rsg_server.platform.power import Enclosure, HostPower

LEAST_JOB = 1
"""So many nodes have to be able to compute under a cap."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Nodes that are alike, in the order of the list, and the enclosures around them."""

    nodes: tuple[str, ...]
    power: HostPower
    speeds: tuple[float, ...]
    enclosures: tuple[Enclosure, ...] = ()

    @property
    def idle_w(self) -> float:
        """What a node draws without load, in whichever power state that is most."""
        return max(state.idle_w for state in self.power.states)

    @property
    def most_w(self) -> float:
        """What all nodes and enclosures draw under full load in the fastest power state: 100 %."""
        return self.full_w(self.fastest) * len(self.nodes) + sum(each.watts for each in self.enclosures)

    @property
    def fastest(self) -> int:
        """The power state of the highest speed, of several the first."""
        return max(range(len(self.speeds)), key=lambda state: (self.speeds[state], -state))

    def full_w(self, state: int) -> float:
        """Return what a node draws under full load."""
        return self.power.states[state].full_w

    def above_idle(self, state: int) -> int:
        """Whole watts that a node under full load draws beyond an idle one, rounded up."""
        return max(0, math.ceil(self.full_w(state) - self.idle_w))

    def states_down_to(self, floor: float) -> tuple[int, ...]:
        """Return the power states that jobs may have, the fastest first; of several with the same watts the fastest."""
        found = sorted(
            (state for state, speed in enumerate(self.speeds) if speed >= floor), key=lambda each: -self.speeds[each]
        )
        return tuple(
            state
            for place, state in enumerate(found)
            if all(self.above_idle(state) < self.above_idle(each) for each in found[:place])
        )

    def off_w(self, off: int) -> float:
        """Return what the last `off` nodes draw that are off, and all enclosures with those that are on."""
        dark_nodes = set(self.nodes[len(self.nodes) - off :])
        dark = [each for each in self.enclosures if dark_nodes.issuperset(each.hosts)]
        unpowered = {name for each in dark for name in each.hosts}
        lit = sum(each.watts for each in self.enclosures) - sum(each.watts for each in dark)
        return lit + self.power.off_w * len(dark_nodes - unpowered)

    def watts(self, off: int, per_node_w: float) -> float:
        """Return what everything draws with the last `off` nodes off, and so many watts for each of the others."""
        return self.off_w(off) + per_node_w * (len(self.nodes) - off)

    def fewest_off(self, cap_w: float, per_node_w: float) -> int | None:
        """Return how many nodes have to be off so that all others may draw so much; None if not even all of them are
        enough.
        """
        low, high = 0, len(self.nodes)
        if self.watts(high, per_node_w) > cap_w:
            return None
        while low < high:  # one node more that is off never draws more: it draws less than it did
            middle = (low + high) // 2
            if self.watts(middle, per_node_w) <= cap_w:
                high = middle
            else:
                low = middle + 1
        return low

    def licenses(self, cap_w: float, off: int) -> int:
        """Whole watts that jobs may draw beyond idle below a cap, rounded down; never more than all nodes that are on can."""
        on = len(self.nodes) - off
        return min(math.floor(cap_w - self.watts(off, self.idle_w)), on * self.above_idle(self.fastest))


def work(machine: Machine, cap_w: float, states: Sequence[int], *, may_switch: bool = True) -> float:
    """Glesser's W / T (chapter 4): nodes of the fastest speed that the nodes that compute are worth under a cap.

    The best of all mixtures of nodes that are off, and nodes at the slowest of `states` and at the fastest. If nodes may not
    switch, those that cannot compute idle.
    """
    slow, fast = min(states, key=lambda each: machine.speeds[each]), machine.fastest
    slow_w, fast_w = machine.full_w(slow) - machine.idle_w, machine.full_w(fast) - machine.idle_w
    best = 0.0
    for off in range(len(machine.nodes) + 1 if may_switch else 1):
        on = len(machine.nodes) - off
        room = cap_w - machine.watts(off, machine.idle_w)
        if room < (on * slow_w if may_switch else 0):
            continue
        busy = min(on, room / slow_w)
        quick = busy if fast_w <= slow_w else min(busy, (room - busy * slow_w) / (fast_w - slow_w))
        slowed = quick + (busy - quick) * machine.speeds[slow] / machine.speeds[fast]
        best = max(best, slowed, 0 if may_switch else min(on, room / fast_w))
    return best
