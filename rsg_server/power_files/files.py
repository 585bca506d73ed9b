"""Makes the text of files about power, by their path and the host that reads or writes them.

Names and forms are those of Linux (Documentation/admin-guide/pm/cpufreq.rst, Documentation/power/powercap), of Cray's
pm_counters, and of Intel's registers (Software Developer's Manual, volume 4). Energies are those of the meters at the
moment of the read. Energies count from the host's last boot before the run; the host is assumed to have been idle from
that boot to the beginning of the run. A host has as many packages as processor sockets, and each package draws an equal
part of the host's watts.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rsg_server.energy.hosts import MeteredHost
from rsg_server.power_files.governor import GOVERNORS, OUTSIDE, USERSPACE, Governor
from rsg_server.power_files.governors import Governors
from rsg_server.power_files.switches import Switches

if TYPE_CHECKING:
    from rsg_server.shared.clock import Clock

NS = 10**9
MICRO = 10**6
ENERGY_RANGE_UJ = 262_143_328_850
"""The value at which energy_uj begins anew, as on processors of today: 2³² units of 61 µJ."""
ENERGY_SHIFT = 14
"""The register MSR_PKG_ENERGY_STATUS counts in units of joules / 2^14."""
POWER_SHIFT = 3
UNITS = 0xA << 16 | ENERGY_SHIFT << 8 | POWER_SHIFT
"""The value of the register MSR_RAPL_POWER_UNIT: the units of time, energy and power."""
CONSTRAINTS = ("long_term", "short_term")
WINDOWS_US = (999_424, 2_440)


class RefusedError(Exception):
    """Raised for a write that Linux would refuse as well; the error contains the errno."""

    def __init__(self, number: int) -> None:
        super().__init__(errno.errorcode[number])
        self.number = number


@dataclass(frozen=True, slots=True)
class Look:
    """A host at a moment, as its files about power show it."""

    governors: Governors
    name: str
    now_ns: int
    uptime_ns: int
    packages: int

    @property
    def governor(self) -> Governor:
        """The governor, which decides on the host's power state."""
        return self.governors.of[self.name]

    @property
    def metered(self) -> MeteredHost:
        """The host's meter, with what decides on its watts."""
        return self.governors.metered(self.name)

    @property
    def khz(self) -> int:
        """The present frequency of the host, in kHz."""
        return self.governor.khz[self.governors.wanted(self.name)]

    @property
    def joules(self) -> float:
        """The energy (J) since the last boot before the run.

        The energy is above 0, since programs that read such counters take 0 for a broken counter.
        """
        metered = self.metered
        before = metered.power.states[metered.first_state].idle_w * self.uptime_ns / NS
        return max(1.0, before) + metered.meter.joules(self.now_ns)

    @property
    def full_w(self) -> float:
        """The most watts that the host can draw."""
        return max(state.full_w for state in self.metered.power.states)

    def limit_w(self, constraint: int) -> float:
        """Return the power limit (W) of one package of the host."""
        own = (f"{package} {constraint}" for package in range(self.packages))
        return min((self.governor.limits_w.get(key, self.full_w) for key in own), default=self.full_w) / self.packages


def _number(text: str) -> int:
    """Return the number that a text means, as kstrtouint of Linux reads it. Raises RefusedError."""
    if not re.fullmatch(r"[0-9]{1,15}\n?", text):
        raise RefusedError(errno.EINVAL)
    return int(text)


def _set_governor(look: Look, text: str) -> None:
    name = text.removesuffix("\n")
    if name not in GOVERNORS:
        raise RefusedError(errno.EINVAL)
    if name == USERSPACE and look.governor.name != USERSPACE:
        look.governor.chosen_khz = look.khz  # cpufreq_userspace.c of Linux reads the number in this way
    look.governor.name = name


def _set_speed(look: Look, text: str) -> None:
    if look.governor.name != USERSPACE:
        raise RefusedError(errno.EINVAL)
    look.governor.chosen_khz = _number(text)


def _set_least(look: Look, text: str) -> None:
    table = look.governor.table
    look.governor.least_khz = min(max(_number(text), table[-1]), table[0])


def _set_most(look: Look, text: str) -> None:
    table = look.governor.table
    look.governor.most_khz = min(max(_number(text), table[-1]), table[0])


Text = Callable[[Look], str]
FREQUENCIES: Mapping[str, Text] = {
    "scaling_governor": lambda look: look.governor.name,
    "scaling_available_governors": lambda look: " ".join(GOVERNORS) + " ",
    "scaling_available_frequencies": lambda look: " ".join(map(str, look.governor.table)) + " ",
    "scaling_cur_freq": lambda look: str(look.khz),
    "scaling_min_freq": lambda look: str(min(look.governor.least_khz, look.governor.most_khz)),
    "scaling_max_freq": lambda look: str(look.governor.most_khz),
    "scaling_setspeed": lambda look: str(look.khz) if look.governor.name == USERSPACE else "<unsupported>",
    "scaling_driver": lambda look: "acpi-cpufreq",
    "cpuinfo_cur_freq": lambda look: str(look.khz),
    "cpuinfo_min_freq": lambda look: str(look.governor.table[-1]),
    "cpuinfo_max_freq": lambda look: str(look.governor.table[0]),
    "cpuinfo_transition_latency": lambda look: "10000",
}
"""The files of a host's only cpufreq policy, by name."""
SETTINGS: Mapping[str, Callable[[Look, str], None]] = {
    "scaling_governor": _set_governor,
    "scaling_setspeed": _set_speed,
    "scaling_min_freq": _set_least,
    "scaling_max_freq": _set_most,
}
COUNTERS: Mapping[str, Text] = {
    "energy": lambda look: f"{int(look.joules)} J {_us(look)} us",
    "power": lambda look: f"{int(look.metered.meter.watts)} W {_us(look)} us",
    "power_cap": lambda look: f"{int(look.governor.limits_w.get(OUTSIDE, 0))} W {_us(look)} us",
    "freshness": lambda look: str((look.now_ns + look.uptime_ns) // (NS // 10)),
}
"""Cray's counters of a node (pm_counters) that change. They count whole watts and joules, with the moment of the sample."""


def _us(look: Look) -> int:
    return (look.now_ns + look.uptime_ns) // 1000


def _zone(number: int) -> Mapping[str, Text]:
    """Return the files of one package's RAPL domain that change. A limit is divided equally among the packages."""
    texts: dict[str, Text] = {
        "energy_uj": lambda look: str(int(look.joules * MICRO / look.packages) % ENERGY_RANGE_UJ),
        "enabled": lambda look: "1",
    }
    for constraint, name in enumerate(CONSTRAINTS):
        texts[f"constraint_{constraint}_name"] = lambda look, name=name: name  # type: ignore[misc]
        texts[f"constraint_{constraint}_time_window_us"] = lambda look, at=constraint: str(WINDOWS_US[at])  # type: ignore[misc]
        texts[f"constraint_{constraint}_power_limit_uw"] = lambda look, at=constraint: str(  # type: ignore[misc]
            round(look.governor.limits_w.get(f"{number} {at}", look.full_w) * MICRO / look.packages)
        )
        texts[f"constraint_{constraint}_max_power_uw"] = lambda look: str(round(look.full_w * MICRO / look.packages))
    return texts


def _set_zone(look: Look, number: int, name: str, text: str) -> None:
    """Set the power limit of one package; the limit of the host is the sum of the limits of its packages."""
    match = re.fullmatch(r"constraint_([01])_power_limit_uw", name)
    if match is None:
        if name == "enabled" or re.fullmatch(r"constraint_[01]_time_window_us", name):
            # accepted without effect: simunix enforces a limit at every moment, not on average over a time window
            _number(text)
            return
        raise RefusedError(errno.EACCES)
    key, watts = f"{number} {match[1]}", _number(text) / MICRO * look.packages
    look.governor.limits_w.pop(key, None)
    if watts < look.full_w:
        look.governor.limits_w[key] = watts


REGISTERS: Mapping[int, Callable[[Look], int]] = {
    0x606: lambda look: UNITS,
    0x610: lambda look: int(look.limit_w(0) * 2**POWER_SHIFT) & 0x7FFF | 1 << 15,
    0x611: lambda look: int(look.joules / look.packages * 2**ENERGY_SHIFT) & 0xFFFFFFFF,
    0x614: lambda look: (watts := int(look.full_w / look.packages * 2**POWER_SHIFT) & 0x7FFF) | watts << 32,
    0x619: lambda look: 0,  # the energy of the memory is part of the package's energy
}
"""The registers that exist: MSR_RAPL_POWER_UNIT, MSR_PKG_POWER_LIMIT, MSR_PKG_ENERGY_STATUS, MSR_PKG_POWER_INFO and
MSR_DRAM_ENERGY_STATUS.
"""
CPUFREQ = r"/sys/devices/system/cpu/cpufreq/policy0/(\w+)"
RAPL = r"/sys/devices/virtual/powercap/intel-rapl/intel-rapl:(\d+)/(\w+)"
CRAY = r"/sys/cray/pm_counters/(\w+)"
MSR = r"/dev/cpu/\d+/msr"


class PowerFiles:
    """Answers reads of files about power, and writes to them."""

    def __init__(self, clock: Clock, uptime_ns: int, governors: Governors, switches: Switches) -> None:
        self._clock, self._uptime_ns, self._governors, self._switches = clock, uptime_ns, governors, switches
        # the number of processor sockets by the name of the host; a host without an entry has one
        self.packages: dict[str, int] = {}

    def _look(self, host: str) -> Look | None:
        if host not in self._governors.of:
            return None
        return Look(self._governors, host, self._clock.now_ns, self._uptime_ns, self.packages.get(host, 1))

    def text(self, host: str, path: str) -> str | None:
        """Return the text that a host reads in a file; None if the path is no file about power."""
        if (wired := self._switches.text(host, path)) is not None:
            return wired
        look = self._look(host)
        if look is None:
            return None
        if re.fullmatch(MSR, path):
            return ""
        texts, name = self._texts(look, path)
        return None if name not in texts else texts[name](look) + "\n"

    def _texts(self, look: Look, path: str) -> tuple[Mapping[str, Text], str]:
        """Return the texts of all files in the folder of a path, and the name of the file that the path means."""
        if match := re.fullmatch(CPUFREQ, path):
            return FREQUENCIES, match[1]
        if match := re.fullmatch(CRAY, path):
            return COUNTERS, match[1]
        if (match := re.fullmatch(RAPL, path)) and int(match[1]) < look.packages:
            return _zone(int(match[1])), match[2]
        return {}, ""

    def register(self, host: str, path: str, number: int) -> bytes | None:
        """Return the eight bytes of a processor's register; None if there is no register with this number."""
        look = self._look(host)
        if look is None or not re.fullmatch(MSR, path) or number not in REGISTERS:
            return None
        return REGISTERS[number](look).to_bytes(8, "little")

    def write(self, host: str, path: str, text: str) -> int:
        """Write a text to a file about power. Return 0, or an errno."""
        if (done := self._switches.write(host, path, text)) is not None:
            return done
        look = self._look(host)
        if look is None:
            return errno.ENOENT
        try:
            if (match := re.fullmatch(CPUFREQ, path)) and match[1] in SETTINGS:
                SETTINGS[match[1]](look, text)
            elif (match := re.fullmatch(RAPL, path)) and int(match[1]) < look.packages:
                _set_zone(look, int(match[1]), match[2], text)
            else:
                return errno.EACCES
        except RefusedError as refused:
            return refused.number
        self._governors.settle_soon(host)
        return 0
