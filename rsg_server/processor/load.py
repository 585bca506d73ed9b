"""What the cores of a host have done: the time that each was busy, and Linux's load averages.

Time is passed in from outside. The averages are those of kernel/sched/loadavg.c: fixed-point numbers that are brought up to
date every five seconds with the number of executions that compute or wait for a core; here when they are asked for, or when
that number changes, for all the moments that have passed. Linux adds those who wait for a disk, which takes no time here.

Executions are on no core in particular: of those that share cores, the lowest core is the one that is busy first.
"""

from __future__ import annotations

from typing import Final

EVERY_NS: Final = 5 * 10**9
FIXED_BITS: Final = 11
FIXED_ONE: Final = 1 << FIXED_BITS
DECAYS: Final = (1884, 2014, 2037)
"""1/exp(5 s / 1, 5, 15 min) in units of 2^-11: EXP_1, EXP_5, EXP_15 of include/linux/sched/loadavg.h."""

Shape = tuple[tuple[int, float], ...]
"""Masks of cores, and how many cores the executions on each of them use together."""


def decayed(load: int, decay: int, active: int) -> int:
    """A load average after one more moment: calc_load(); `active` is a fixed-point number, too."""
    found = load * decay + active * (FIXED_ONE - decay)
    if active >= load:
        found += FIXED_ONE - 1
    return found >> FIXED_BITS


class Load:
    """The use of one host's cores."""

    def __init__(self, cores: int) -> None:
        self.averages = (0, 0, 0)
        self._cores = cores
        self._moments = 0  # how many times the averages have been brought up to date
        self._shapes: dict[Shape, float] = {}  # nanoseconds by what used the cores

    def pass_time(self, now_ns: int, elapsed_ns: int, running: int, shape: Shape) -> None:
        """Account for time that has passed up to now, while so many executions computed or waited for a core."""
        if shape:
            self._shapes[shape] = self._shapes.get(shape, 0.0) + elapsed_ns
        moments = now_ns // EVERY_NS
        while self._moments < moments:
            after = tuple(
                decayed(load, decay, running << FIXED_BITS) for load, decay in zip(self.averages, DECAYS, strict=True)
            )
            self._moments = moments if after == self.averages else self._moments + 1
            self.averages = (after[0], after[1], after[2])

    def busy_ns(self) -> list[int]:
        """For how long each core was busy, in nanoseconds."""
        found = [0.0] * self._cores
        for shape, ns in self._shapes.items():
            for core, part in enumerate(_on_cores(shape, self._cores)):
                found[core] += part * ns
        return [round(ns) for ns in found]


def _on_cores(shape: Shape, cores: int) -> list[float]:
    """The part of each core that is in use: those with few cores to choose from first, then the lowest core first."""
    found = [0.0] * cores
    for mask, rate in sorted(shape, key=lambda entry: (entry[0].bit_count(), entry[0])):
        for core in range(cores):
            part = min(1.0 - found[core], rate) if mask >> core & 1 else 0.0
            found[core] += part
            rate -= part
    return found
