"""The energy of something whose power changes in steps: the sum, over intervals of one power, of watts × seconds.

Only changes are kept, and what is changed back at the same moment leaves no trace; so the sum is the same, to the last bit,
however often a power was said, and whatever happened in no time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

NS = 10**9


class Meter:
    """The power of one thing since the start of the run. Moments are virtual nanoseconds, and never go back."""

    __slots__ = ("_joules", "_moments", "_watts")

    def __init__(self, watts: float) -> None:
        self._moments = array("q", [0])
        self._watts = array("d", [watts])
        self._joules = array("d", [0.0])

    @property
    def watts(self) -> float:
        """The power now."""
        return self._watts[-1]

    def change(self, now_ns: int, watts: float) -> None:
        """Draw so many watts from now on."""
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
        """The energy from the start of the run to a moment."""
        place = max(0, bisect_right(self._moments, moment_ns) - 1)
        return self._joules[place] + self._watts[place] * (moment_ns - self._moments[place]) / NS

    def points(self, end_ns: int) -> tuple[list[int], list[float]]:
        """Moments and the energy until each; between two of them, energy grows evenly. The last one is the end of the run."""
        return [*self._moments, end_ns], [*self._joules, self.joules(end_ns)]

    def steps(self) -> tuple[list[int], list[float]]:
        """Moments at which the power changed, the first is 0, and the power from each of them on."""
        return [*self._moments], [*self._watts]

    def watts_before(self, moment_ns: int) -> float:
        """The power just before a moment; at the start of the run, from it on."""
        return self._watts[max(0, bisect_left(self._moments, moment_ns) - 1)]
