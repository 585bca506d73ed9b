"""Records what the cores of a host have done: how long each was busy, and Linux's load averages.

The caller passes how much virtual time has passed. The averages are those of Linux's kernel/sched/loadavg.c:
fixed-point numbers, updated every five seconds from the number of executions that compute or wait for a core. simunix
makes the updates later, for all moments that have passed, when the averages are read or when that number changes. Linux
also counts threads that wait for a disk; simunix does not.

The model assigns no execution to a particular core. Of the cores that executions may use, the lowest counts as busy first.
"""

from __future__ import annotations

from typing import Final

EVERY_NS: Final = 5 * 10**9
FIXED_BITS: Final = 11
FIXED_ONE: Final = 1 << FIXED_BITS
DECAYS: Final = (1884, 2014, 2037)
"""The factors exp(-5 s / 1, 5, 15 min) in units of 2^-11: EXP_1, EXP_5, EXP_15 of include/linux/sched/loadavg.h."""

Shape = tuple[tuple[int, float], ...]
"""Masks of cores, and how many cores the executions with each mask use together."""


def decayed(load: int, decay: int, active: int) -> int:
    """Return a load average after one more update, as calc_load() of Linux; `active` is a fixed-point number, too."""
    found = load * decay + active * (FIXED_ONE - decay)
    if active >= load:
        found += FIXED_ONE - 1
    return found >> FIXED_BITS


class Load:
    """The use of the cores of one host."""

    def __init__(self, cores: int) -> None:
        self.averages = (0, 0, 0)
        self._cores = cores
        self._moments = 0  # how often the averages have been updated
        self._shapes: dict[Shape, float] = {}  # for how many ns, by how the cores were used

    def pass_time(self, now_ns: int, elapsed_ns: int, running: int, shape: Shape) -> None:
        """Record that time has passed up to now, while so many executions computed or waited for a core."""
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
        """Return for how long (ns) each core was busy."""
        found = [0.0] * self._cores
        for shape, ns in self._shapes.items():
            for core, part in enumerate(_on_cores(shape, self._cores)):
                found[core] += part * ns
        return [round(ns) for ns in found]


def _on_cores(shape: Shape, cores: int) -> list[float]:
    """Return the part of each core that is in use.

    Executions with few cores to choose from come first, and lower cores before higher ones.
    """
    found = [0.0] * cores
    for mask, rate in sorted(shape, key=lambda entry: (entry[0].bit_count(), entry[0])):
        for core in range(cores):
            part = min(1.0 - found[core], rate) if mask >> core & 1 else 0.0
            found[core] += part
            rate -= part
    return found
