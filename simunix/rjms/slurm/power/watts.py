"""Compute the most watts that a cluster draws, and which nodes must be off to keep the cluster below a cap.

Every node counts with the watts under full load in its power state, so a cluster never draws more than computed here.
Nodes are switched off from the end of the list, one after the other. So whole chassis and racks become empty, and their
own watts are saved as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rsg_server.platform.power import Enclosure, HostPower

LEAST_JOB = 1
"""The least number of nodes that must be able to compute under a cap."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Equal nodes, in the order of the list, and the enclosures around them."""

    nodes: tuple[str, ...]
    power: HostPower
    speeds: tuple[float, ...]
    enclosures: tuple[Enclosure, ...] = ()

    @property
    def idle_w(self) -> float:
        """The watts of a node without load, in the power state in which they are greatest."""
        return max(state.idle_w for state in self.power.states)

    @property
    def most_w(self) -> float:
        """The watts of all nodes and enclosures under full load in the fastest power state, which are 100 %."""
        return self.full_w(self.fastest) * len(self.nodes) + sum(each.watts for each in self.enclosures)

    @property
    def fastest(self) -> int:
        """The power state with the highest speed; of equal ones, the first."""
        return max(range(len(self.speeds)), key=lambda state: (self.speeds[state], -state))

    def full_w(self, state: int) -> float:
        """Return the watts of a node under full load in a power state."""
        return self.power.states[state].full_w

    def above_idle(self, state: int) -> int:
        """Return by how many whole watts, rounded up, a node under full load in a power state exceeds an idle node."""
        return max(0, math.ceil(self.full_w(state) - self.idle_w))

    def states_down_to(self, floor: float) -> tuple[int, ...]:
        """Return the power states that jobs may use, the fastest first; of states with equal watts, only the fastest.
        `floor` is the least speed of a core, in flop/s, that these states may have.
        """
        found = sorted(
            (state for state, speed in enumerate(self.speeds) if speed >= floor), key=lambda each: -self.speeds[each]
        )
        return tuple(
            state
            for place, state in enumerate(found)
            if all(self.above_idle(state) < self.above_idle(each) for each in found[:place])
        )

    def off_w(self, off: int) -> float:
        """Return the watts of the last `off` nodes, which are off, and of all enclosures around nodes that are on."""
        dark_nodes = set(self.nodes[len(self.nodes) - off :])
        dark = [each for each in self.enclosures if dark_nodes.issuperset(each.hosts)]
        unpowered = {name for each in dark for name in each.hosts}
        lit = sum(each.watts for each in self.enclosures) - sum(each.watts for each in dark)
        return lit + self.power.off_w * len(dark_nodes - unpowered)

    def watts(self, off: int, per_node_w: float) -> float:
        """Return the total watts if the last `off` nodes are off and each other node draws `per_node_w`."""
        return self.off_w(off) + per_node_w * (len(self.nodes) - off)

    def fewest_off(self, cap_w: float, per_node_w: float) -> int | None:
        """Return how many nodes must be off so that each other node may draw `per_node_w` below the cap; None if the
        cap cannot be kept.
        """
        low, high = 0, len(self.nodes)
        if self.watts(high, per_node_w) > cap_w:
            return None
        while low < high:  # an additional node that is off never increases the watts
            middle = (low + high) // 2
            if self.watts(middle, per_node_w) <= cap_w:
                high = middle
            else:
                low = middle + 1
        return low

    def licenses(self, cap_w: float, off: int) -> int:
        """Return by how many whole watts, rounded down, jobs may exceed idle nodes below a cap; at most what all nodes
        that are on can use.
        """
        on = len(self.nodes) - off
        return min(math.floor(cap_w - self.watts(off, self.idle_w)), on * self.above_idle(self.fastest))


def work(machine: Machine, cap_w: float, states: Sequence[int], *, may_switch: bool = True) -> float:
    """Return Glesser's W / T (chapter 4): the computing power of the cluster under a cap, in nodes of the fastest
    speed. Some nodes are off, some in the slowest of `states`, and some in the fastest; the result is for the best
    mixture. If nodes may not be switched off, nodes that cannot compute are idle.
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
