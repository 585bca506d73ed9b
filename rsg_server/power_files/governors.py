"""The governors of all hosts that have watts, connected to what changes loads and power states.

A change of power state that a program asks for, or that follows from a load, takes no virtual time. But the change is
an event after the program's turn. Even before this event, programs read the new power state.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rsg_server.energy.hosts import ON, MeteredHost
from rsg_server.faults.changes import PowerStateChange
from rsg_server.power_files.governor import OUTSIDE, governor_of

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.energy.hosts import HostMeters
    from rsg_server.faults.faults import Faults
    from rsg_server.platform.platform import Platform
    from rsg_server.process.cpu import Cpu
    from rsg_server.shared.clock import Clock


class Governors:
    """Choose the power states of hosts. If no host has watts, there are no governors."""

    def __init__(
        self, clock: Clock, timeline: Timeline, platform: Platform, cpu: Cpu, faults: Faults, meters: HostMeters
    ) -> None:
        self._clock, self._timeline, self._faults, self._meters = clock, timeline, faults, meters
        found = {host.name: governor_of(host) for host in platform.hosts}
        self.of = {name: governor for name, governor in found.items() if governor is not None}
        self._due: set[str] = set()
        self._settles = False  # True while a change is made that a governor has chosen
        if self.of:
            cpu.on_load.connect(self._loaded)
            faults.on_power_state.connect(self._changed_state)
            faults.power.on_switch.connect(self._switched)

    def metered(self, name: str) -> MeteredHost:
        """Return the meter of a host with what decides on its watts."""
        return self._meters.hosts[name]

    def wanted(self, name: str) -> int:
        """Return the power state that a host is in, or will be in after the events of this moment."""
        return self.of[name].wanted(self.metered(name).load)

    def limit_from_outside(self, name: str, watts: float) -> None:
        """Set how many watts a host may draw, from outside of the host: programs and boots do not change it.

        0 removes the limit.
        """
        limits_w = self.of[name].limits_w
        limits_w.pop(OUTSIDE, None)
        if watts:
            limits_w[OUTSIDE] = watts
        self.settle_soon(name)

    def settle_soon(self, name: str) -> None:
        """Have a host go to the power state that its governor wants, by an event at this moment of virtual time."""
        if name not in self._due:
            self._due.add(name)
            self._timeline.add(self._clock.now_ns, partial(self._settle, name))

    def _settle(self, name: str) -> None:
        self._due.discard(name)
        governor, state = self.of[name], self.wanted(name)
        if state != governor.state and not self._faults.power.is_off(name):
            governor.state, self._settles = state, True
            self._faults.apply(PowerStateChange(name, state))
            self._settles = False

    def _loaded(self, name: str, cores: float) -> None:
        governor = self.of.get(name)
        if governor is not None and governor.goes_with_load:
            self.settle_soon(name)

    def _changed_state(self, name: str, state: int) -> None:
        governor = self.of.get(name)
        if governor is not None and not self._settles:
            governor.give(state)
            self.settle_soon(name)  # the bounds and limits that programs have set remain

    def _switched(self, name: str, what: str) -> None:
        governor = self.of.get(name)
        if governor is not None and what == ON:
            before = governor.state
            governor.reset()
            governor.state = before
            self.settle_soon(name)
