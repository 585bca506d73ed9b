"""The watts that hosts and links draw, from the properties of SimGrid's plugins host_energy and link_energy.

`wattage_per_state` contains `idle:epsilon:full` for each power state of a host (`idle:full`: epsilon is idle).
`wattage_off` is what a host or link draws while it is off. `wattage_range` contains `idle:busy` of a link. The text of
a ValueError begins with the name of the property that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

PER_STATE, OFF, RANGE = "wattage_per_state", "wattage_off", "wattage_range"
OLD_NAMES = {PER_STATE: "watt_per_state", OFF: "watt_off", RANGE: "watt_range"}
"""The names that these properties had before SimGrid 3.26. Public platform files still contain them."""
MOST_W = 1e12
_WATTS = r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z]*)\s*$"
_UNITS = {"": 1.0, "mW": 1e-3, "W": 1.0, "kW": 1e3, "MW": 1e6}


@dataclass(frozen=True, slots=True)
class PowerRange:
    """The watts of a host in one power state: without load, with the least load, and with all cores in use."""

    idle_w: float
    epsilon_w: float
    full_w: float

    def watts(self, load: float) -> float:
        """Return the watts that the host draws; `load` is the part of its cores that is in use, from 0 to 1."""
        return self.epsilon_w + load * (self.full_w - self.epsilon_w) if load > 0 else self.idle_w


@dataclass(frozen=True, slots=True)
class HostPower:
    """The watts of a host in each of its power states, and while it is off."""

    states: tuple[PowerRange, ...]
    off_w: float = 0.0


@dataclass(frozen=True, slots=True)
class LinkPower:
    """The watts of a link without traffic, at full traffic, and while it is down."""

    idle_w: float
    busy_w: float
    off_w: float = 0.0

    def times(self, number: int) -> LinkPower:
        """Return the watts of a number of parallel cables, which count as one link."""
        return LinkPower(self.idle_w * number, self.busy_w * number, self.off_w * number)


@dataclass(frozen=True, slots=True)
class Enclosure:
    """An enclosure (a rack, a chassis): hosts, and something around them that draws watts itself, such as fans and a switch."""

    name: str
    hosts: tuple[str, ...]
    watts: float


@dataclass(frozen=True, slots=True)
class Boot:
    """How a host boots and shuts down: ns from power on to running, ns from its last program's end to off, watts of a boot.

    Without watts, a booting host draws as much as under full load, like a power state of speed 0 in SimGrid. `failure`
    is the part of its boots that hang, from 0 to 1.
    """

    time_ns: int = 0
    shutdown_ns: int = 0
    watts: float | None = None
    failure: float = 0.0


NO_BOOT = Boot()
"""The boot of a host that is on, or off, at the same moment at which it is switched."""


def watts(text: str) -> float:
    """Return the watts that a text such as `117` or `0.35kW` means. Raises ValueError for another text or less than 0."""
    expected = "expected watts not below 0 such as '117', '117W' or '0.9kW'"
    match = re.match(_WATTS, text)
    factor = _UNITS.get(match[2]) if match else None
    value = float(match[1]) * factor if match and factor is not None else -1.0
    if not 0 <= value < MOST_W:
        raise ValueError(f"{expected}, got {text.strip()[:60]!r}")
    return value


def power_range(text: str) -> PowerRange:
    """Return the watts of a text `idle:epsilon:full` or `idle:full`. Raises ValueError for another text."""
    parts = text.split(":")
    if len(parts) not in (2, 3):
        raise ValueError(f"expected 'idle:epsilon:full' or 'idle:full' for each power state, got {text.strip()[:60]!r}")
    values = [watts(part) for part in parts]
    found = PowerRange(values[0], values[-2], values[-1])
    if max(found.idle_w, found.epsilon_w) > found.full_w:
        raise ValueError(f"{text.strip()[:60]!r}: the idle watts are above the watts of full load; change one of the numbers")
    return found


def host_power(properties: Mapping[str, str], states: int) -> HostPower | None:
    """Return the power of a host that has `states` power states; None if its properties have no watts. Raises ValueError."""
    per_state, off = _said(properties, PER_STATE), _said(properties, OFF)
    if per_state is None:
        if off is not None:
            raise ValueError(f"{OFF}: the host has no {PER_STATE}; add {PER_STATE}, or remove {OFF}")
        return None
    ranges = _parsed(PER_STATE, lambda: tuple(power_range(part) for part in per_state.split(",")))
    if len(ranges) != states:
        counts = f"{len(ranges)} for {states} power {'state' if states == 1 else 'states'} (speeds)"
        raise ValueError(f"{PER_STATE}: expected watts for each power state, got {counts}; write one for each, in their order")
    return HostPower(ranges, _parsed(OFF, lambda: watts(off or "0")))


def link_power(properties: Mapping[str, str]) -> LinkPower | None:
    """Return the power of a link; None if its properties have no watts. Raises ValueError."""
    busy, off = _said(properties, RANGE), _said(properties, OFF)
    if busy is None:
        if off is not None:
            raise ValueError(f"{OFF}: the link has no {RANGE}; add {RANGE}, or remove {OFF}")
        return None
    found = _parsed(RANGE, lambda: _link_range(busy))
    return LinkPower(found.idle_w, found.full_w, _parsed(OFF, lambda: watts(off or "0")))


def _link_range(text: str) -> PowerRange:
    if text.count(":") != 1:
        raise ValueError(f"expected 'idle:busy', got {text.strip()[:60]!r}")
    return power_range(text)


def host_properties(power: HostPower) -> dict[str, str]:
    """Return those properties of a host that describe its power."""
    per_state = ",".join(f"{each.idle_w!r}:{each.epsilon_w!r}:{each.full_w!r}" for each in power.states)
    return {PER_STATE: per_state, OFF: repr(power.off_w)}


def link_properties(power: LinkPower) -> dict[str, str]:
    """Return those properties of a link that describe its power."""
    return {RANGE: f"{power.idle_w!r}:{power.busy_w!r}", OFF: repr(power.off_w)}


def _said(properties: Mapping[str, str], name: str) -> str | None:
    return properties.get(name, properties.get(OLD_NAMES[name]))


def _parsed(name: str, parse: Callable[[], T]) -> T:
    """Return the result of `parse`; the text of a ValueError gets the name of the property in front."""
    try:
        return parse()
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
