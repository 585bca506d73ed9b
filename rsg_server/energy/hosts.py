"""Computes what hosts and the enclosures around them draw, as SimGrid's plugin host_energy does.

The power of a host depends on its power state, on the part of its cores that executions use, and on whether it is on.
An enclosure (a chassis, a rack) draws its own watts as long as one of its hosts is on. When all of them are off, the
enclosure has no power, and its hosts draw nothing either. Invariant: at every moment each meter has the power that
follows from the present state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rsg_server.energy.meter import Meter
from rsg_server.platform.host import Host
from rsg_server.platform.power import NO_BOOT, Boot, Enclosure, HostPower

ON, STOPPING, OFF, BOOTING = "on", "stopping", "off", "booting"
"""The conditions of a host.

`stopping`: it shuts down in good order; until the shutdown has ended, the host draws as much as a host that is on.
"""


@dataclass(slots=True)
class MeteredHost:
    """A host with a power meter, and what decides on its power.

    `dark` is the number of enclosures around the host that have no power, because all of their hosts are off.
    """

    power: HostPower
    cores: int
    first_state: int
    state: int
    meter: Meter
    boot_w: float | None = None
    load: float = 0.0
    what: str = ON
    dark: int = 0

    @property
    def is_on(self) -> bool:
        """Whether the host has power: it is on, boots, or has not ended its shutdown."""
        return self.what != OFF

    @property
    def watts(self) -> float:
        """The power (W) that the host draws now."""
        if self.what == BOOTING:
            return self.power.states[self.state].full_w if self.boot_w is None else self.boot_w
        if self.is_on:
            return self.power.states[self.state].watts(self.load)
        return 0.0 if self.dark else self.power.off_w


@dataclass(slots=True)
class MeteredEnclosure:
    """An enclosure (a chassis, a rack) with a power meter, and the number of its hosts that are on."""

    enclosure: Enclosure
    hosts_on: int
    meter: Meter


@dataclass(frozen=True, slots=True)
class Switch:
    """A record of a host's change to another power state, or to another condition `what` (on, stopping, off, booting)."""

    at_ns: int
    host: str
    state: int
    what: str


class HostMeters:
    """The power meters of all hosts that have watts, and of all enclosures. For other hosts no power is known."""

    def __init__(
        self,
        now_ns: Callable[[], int],
        hosts: Iterable[Host],
        enclosures: Iterable[Enclosure] = (),
        boots: Mapping[str, Boot] = MappingProxyType({}),
    ) -> None:
        self._now_ns = now_ns
        self.hosts: dict[str, MeteredHost] = {}
        self.switches: list[Switch] = []
        for host in hosts:
            if host.power is not None:
                meter = Meter(host.power.states[host.power_state].watts(0.0))
                boot_w, state = boots.get(host.name, NO_BOOT).watts, host.power_state
                self.hosts[host.name] = MeteredHost(host.power, host.cores, state, state, meter, boot_w)
        self.enclosures = [MeteredEnclosure(each, len(each.hosts), Meter(each.watts)) for each in enclosures]
        self._around: dict[str, list[MeteredEnclosure]] = {}
        for enclosure in self.enclosures:
            for name in enclosure.enclosure.hosts:
                self._around.setdefault(name, []).append(enclosure)

    def meters(self) -> list[Meter]:
        """Return the power meters of all hosts and enclosures."""
        return [*(host.meter for host in self.hosts.values()), *(each.meter for each in self.enclosures)]

    def loaded(self, name: str, cores: float) -> None:
        """Note that executions use `cores` of a host's cores from now on."""
        host = self.hosts.get(name)
        if host is not None:
            host.load = min(1.0, cores / host.cores)
            self._measure(host)

    def changed_state(self, name: str, state: int) -> None:
        """Note that a host is in another power state from now on, or, if it is off, from its next boot on."""
        host = self.hosts.get(name)
        if host is not None:
            host.state = state
            if host.is_on:
                self._switched(name, host)

    def switched(self, name: str, what: str) -> None:
        """Note that a host goes on or off, or begins to shut down or to boot."""
        host = self.hosts.get(name)
        if host is None:
            return
        was_on, host.what = host.is_on, what
        if was_on != host.is_on:
            for enclosure in self._around.get(name, ()):
                self._enclose(enclosure, 1 if host.is_on else -1)
        self._switched(name, host)

    def _switched(self, name: str, host: MeteredHost) -> None:
        self.switches.append(Switch(self._now_ns(), name, host.state, host.what))
        self._measure(host)

    def _enclose(self, enclosure: MeteredEnclosure, change: int) -> None:
        """Add `change` (1 or -1) to the number of an enclosure's hosts that are on.

        The enclosure gets power when its first host is switched on, and loses its power with its last host; in both
        cases the power of all its hosts changes.
        """
        was_on = enclosure.hosts_on > 0
        enclosure.hosts_on += change
        if was_on == (enclosure.hosts_on > 0):
            return
        enclosure.meter.change(self._now_ns(), 0.0 if was_on else enclosure.enclosure.watts)
        for name in enclosure.enclosure.hosts:
            self.hosts[name].dark += 1 if was_on else -1
            self._measure(self.hosts[name])

    def _measure(self, host: MeteredHost) -> None:
        host.meter.change(self._now_ns(), host.watts)
