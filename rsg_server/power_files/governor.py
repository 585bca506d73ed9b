"""Decides on the power state of a host: by its frequency governor, its bounds, and the power limits that programs have set.

A host has one frequency for all of its cores, like a computer whose cpufreq policy has all processors. Linux counts in
kilohertz: a power state of so many flop/s per core is a frequency of so many hertz.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rsg_server.platform.host import Host
from rsg_server.platform.power import HostPower

PERFORMANCE, POWERSAVE, USERSPACE = "performance", "powersave", "userspace"
BY_LOAD = ("conservative", "ondemand", "schedutil")
"""The governors that follow the load. simunix's follow it without sampling, and in one step."""
OUTSIDE = "outside"
"""The key of a power limit that was set from outside of the host. A boot of the host does not end such a limit."""
GOVERNORS = ("conservative", "ondemand", USERSPACE, POWERSAVE, PERFORMANCE, "schedutil")


@dataclass(slots=True)
class Governor:
    """Decides on the power state of one host.

    `limits_w` are limits of the whole host, by the name of the part that has set them.
    """

    khz: tuple[int, ...]  # the frequency of each power state; 0: the state has no frequency
    power: HostPower
    state: int  # the present power state
    given: int  # the power state that the platform, or an event of the scenario, has set
    name: str = PERFORMANCE
    chosen_khz: int = 0  # the frequency that was written to scaling_setspeed
    least_khz: int = 0
    most_khz: int = 0
    limits_w: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reset()

    @property
    def table(self) -> list[int]:
        """The frequencies (kHz) that may be chosen, the highest first."""
        return sorted({khz for khz in self.khz if khz}, reverse=True)

    def reset(self) -> None:
        """Begin as after a boot, in the power state that the platform or an event of the scenario has set."""
        self.least_khz, self.most_khz = self.table[-1], self.table[0]
        self.limits_w = {who: watts for who, watts in self.limits_w.items() if who == OUTSIDE}
        self.give(self.given)

    def give(self, state: int) -> None:
        """Set a power state from outside of the host: an event of the scenario has the effect of an operator's choice."""
        self.given = self.state = state
        self.chosen_khz = self.khz[state]
        self.name = PERFORMANCE if self.chosen_khz == self.table[0] else USERSPACE

    @property
    def goes_with_load(self) -> bool:
        """Whether the power state may change with the load of the host."""
        return self.name in BY_LOAD or bool(self.limits_w)

    def bounded(self, khz: int) -> int:
        """Return the lowest frequency of the table that is not below the given one, within the lowest and highest
        frequency that programs have set.
        """
        most, least = self.most_khz, min(self.least_khz, self.most_khz)
        wanted = min(max(khz, least), most)
        fits = [each for each in self.table if wanted <= each <= most]
        below = [each for each in self.table if each <= most]
        return fits[-1] if fits else below[0] if below else self.table[-1]

    def wanted(self, load: float) -> int:
        """Return the power state for a load from 0 to 1. If all states exceed the power limits, return the slowest one."""
        first = self._by_governor(load)
        slower = [khz for khz in self.table if khz <= first]
        limit_w = min(self.limits_w.values(), default=float("inf"))
        fits = (khz for khz in slower if self.power.states[self.khz.index(khz)].watts(load) <= limit_w)
        return self.khz.index(next(fits, slower[-1]))

    def _by_governor(self, load: float) -> int:
        if self.name == USERSPACE:
            return self.bounded(self.chosen_khz)
        slow = self.name == POWERSAVE or (self.name in BY_LOAD and load <= 0)
        return self.bounded(self.least_khz if slow else self.most_khz)


def governor_of(host: Host) -> Governor | None:
    """Return the governor of a host at the start of the run; None if the host has no watts."""
    khz = tuple(round(speed / 1000) for speed in host.speeds_flops)
    if host.power is None or not khz[host.power_state]:
        return None
    return Governor(khz, host.power, host.power_state, host.power_state)
