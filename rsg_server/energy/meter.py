"""Computes the energy of something whose power changes in steps: the sum of watts × seconds over intervals of equal power.

Only changes are stored. A change that is undone at the same moment leaves no trace. So the energy does not depend, in
any bit, on how often the same power was set, nor on changes that lasted no time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

NS = 10**9


class Meter:
    """The power of one thing since the start of the run. Moments are virtual ns, in ascending order."""

    __slots__ = ("_joules", "_moments", "_watts")

    def __init__(self, watts: float) -> None:
        self._moments = array("q", [0])
        self._watts = array("d", [watts])
        self._joules = array("d", [0.0])

    @property
    def watts(self) -> float:
        """The present power, in watts."""
        return self._watts[-1]

    def change(self, now_ns: int, watts: float) -> None:
        """Set the power, in watts, from `moment_ns` on."""
        if now_ns == self._moments[-1]:
            self._watts[-1] = watts
            if len(self._watts) > 1 and self._watts[-2] == watts:
                for values in (self._moments, self._watts, self._joules):
                    values.pop()
        elif watts != self._watts[-1]:
            self._joules.append(self.joules(now_ns))
            self._moments.append(now_ns)
            self._watts.append(watts)

    def joules(self, moment_ns: int) -> float:
        """Return the energy (J) from the start of the run to `moment_ns`."""
        place = max(0, bisect_right(self._moments, moment_ns) - 1)
        return self._joules[place] + self._watts[place] * (moment_ns - self._moments[place]) / NS

    def points(self, end_ns: int) -> tuple[list[int], list[float]]:
        """Return moments (virtual ns), and the energy (J) from the start of the run to each of them.

        Between two moments the energy grows evenly. The last moment is the end of the run.
        """
        return [*self._moments, end_ns], [*self._joules, self.joules(end_ns)]

    def steps(self) -> tuple[list[int], list[float]]:
        """Return the moments (virtual ns) at which the power changed, of which the first is 0, and the power (W) from
        each of them on.
        """
        return [*self._moments], [*self._watts]

    def watts_before(self, moment_ns: int) -> float:
        """Return the power (W) just before a moment; for the start of the run, the power from the start on."""
        return self._watts[max(0, bisect_left(self._moments, moment_ns) - 1)]
