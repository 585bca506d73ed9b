"""Hosts and links as the programs of Remote SimGrid see and change them, and the cores on which they compute.

The cores of a host are a link in the engine: executions share them as flows share a link, and none has more than one core. So
computing of programs that are intercepted takes no share of these cores, and TCP connections take none of the links.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from rsg_server.platform.link import Link, SharingPolicy
from rsg_server.rsg.activity import FAILED, Execution
from rsg_server.rsg.errors import Code, OperationError

if TYPE_CHECKING:
    from rsg_server.network.engine import FlowEngine
    from rsg_server.platform.host import Host
    from rsg_server.process.actor import Actor
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.needs import Kernel
    from rsg_server.rsg.room import Rsg


class Places:
    """Hosts and links by number: the order of the platform."""

    def __init__(self, room: Rsg, kernel: Kernel, engine: FlowEngine) -> None:
        self._room, self._kernel, self._engine = room, kernel, engine
        self.hosts = kernel.platform.hosts
        self._numbers = {host.name: number for number, host in enumerate(self.hosts)}
        self._cores: dict[str, Link] = {}
        self._power_states: dict[str, int] = {}
        self._available: dict[str, float] = {}
        self._off: set[str] = set()
        self._links_off: set[str] = set()
        self._links: list[Link] | None = None
        self._link_numbers: dict[str, int] = {}
        self.awaited: dict[Actor, str] = {}  # threads that wait until a host is on
        self.on_turned_on: Callable[[str], None] = lambda host: None  # told the name of a host that an actor has switched on

    # Hosts

    def host(self, number: int) -> Host:
        """The host of a number."""
        if not 0 <= number < len(self.hosts):
            raise OperationError(Code.UNKNOWN_HOST)
        return self.hosts[number]

    def number_of(self, host: Host) -> int:
        """The number of a host."""
        return self._numbers[host.name]

    def number_named(self, name: str) -> int:
        """The number of the host of a name."""
        number = self._numbers.get(name)
        if number is None:
            raise OperationError(Code.UNKNOWN_HOST)
        return number

    def is_off(self, host: Host) -> bool:
        """Whether a host has no power."""
        return host.name in self._off or self._kernel.is_off(host.name)

    def power_state(self, host: Host) -> int:
        """The place of a host's speed among its speeds."""
        return self._power_states.get(host.name, host.power_state)

    def speed(self, host: Host) -> float:
        """The speed of one core now, in flop/s."""
        return host.speeds_flops[self.power_state(host)]

    def available(self, host: Host) -> float:
        """The part of a host's speed that its profile leaves."""
        return self._available.get(host.name, 1.0)

    def set_available(self, host: Host, part: float) -> None:
        """Leave a part of a host's speed; what computes there goes on at that."""
        self._available[host.name] = part
        self._speed_changed(host)

    def executions(self, host: Host) -> list[Execution]:
        """What computes on a host."""
        return [found for found in self._room.flows.values() if isinstance(found, Execution) and found.host is host]

    def load(self, host: Host) -> float:
        """How many flop/s of a host are in use."""
        return sum(self._engine.rate(execution.flow) for execution in self.executions(host))

    def turn(self, host: Host, is_on: bool) -> None:
        """Switch a host on or off: its actors end, and so does what they and others do there."""
        if is_on:
            if host.name in self._off:
                self._off.remove(host.name)
                self.on_turned_on(host.name)
                for thread in [thread for thread, name in self.awaited.items() if name == host.name]:
                    del self.awaited[thread]
                    self._room.tell(thread)
            return
        self._off.add(host.name)
        for who in [one for one in self._room.participants.values() if one.host is host]:
            self._room.lives.kill(who)
        for activity in list(self._room.flows.values()):
            if host in activity.hosts():
                activity.error = Code.HOST_FAILURE if isinstance(activity, Execution) else Code.NETWORK_FAILURE
                self._room.comms.end(activity, FAILED)

    def set_power_state(self, host: Host, number: int) -> None:
        """Give a host another of its speeds; what computes there goes on at that."""
        if not 0 <= number < len(host.speeds_flops):
            raise OperationError(Code.BAD_VALUE)
        self._power_states[host.name] = number
        self._speed_changed(host)

    def _speed_changed(self, host: Host) -> None:
        cores = self._cores.get(host.name)
        if cores is None:
            return
        self._engine.change("bandwidth", cores, self.speed(host) * self.available(host) * host.cores)
        for execution in self.executions(host):
            self.restart(execution)

    def compute(self, execution: Execution, flops: float) -> None:
        """Have the cores of its host work on an execution from now on."""
        host = execution.host
        cores = self._cores.get(host.name)
        if cores is None:
            name = f"the cores of host {host.name}"
            capacity = self.speed(host) * self.available(host) * host.cores
            cores = self._cores[host.name] = Link(name, capacity, 0.0, SharingPolicy.SHARED)
        speed = self.speed(host) * self.available(host)
        bound = min(speed, execution.bound) if execution.bound > 0 else speed
        execution.flow = self._engine.compute(cores, flops, execution.priority, bound)
        self._room.flows[execution.flow] = execution
        self._room.moments.is_unsettled = True

    def restart(self, execution: Execution) -> None:
        """Go on with an execution under other terms: another speed, bound or host."""
        left = self._engine.remaining_bytes(execution.flow)
        del self._room.flows[execution.flow]
        self._engine.cancel(execution.flow)
        self.compute(execution, left)

    # Links

    @property
    def links(self) -> list[Link]:
        """All links of the platform, in the order of its description."""
        if self._links is None:
            self._links = list(self._kernel.platform.links.values())
            self._link_numbers = {link.name: number for number, link in enumerate(self._links)}
        return self._links

    def link(self, number: int) -> Link:
        """The link of a number."""
        if not 0 <= number < len(self.links):
            raise OperationError(Code.UNKNOWN_LINK)
        return self._kernel.network.link(self.links[number].name)

    def link_named(self, name: str) -> int:
        """The number of the link of a name."""
        if not self.links or name not in self._link_numbers:
            raise OperationError(Code.UNKNOWN_LINK)
        return self._link_numbers[name]

    def is_link_on(self, link: Link) -> bool:
        """Whether a link carries anything."""
        return link.name not in self._links_off

    def turn_link(self, link: Link, is_on: bool) -> None:
        """Switch a link on or off; what crosses it fails. TCP's packets are lost there, too."""
        (self._links_off.discard if is_on else self._links_off.add)(link.name)
        self._engine.change("state", link, float(is_on))
        self._kernel.network.set_link(link.name, is_up=is_on)
        self._room.moments.is_unsettled = True

    def set_link(self, link: Link, bandwidth: float, latency: float) -> None:
        """Give a link another bandwidth or latency; below 0 is as it was."""
        if bandwidth >= 0:
            self._engine.change("bandwidth", link, bandwidth)
            self._kernel.network.set_link(link.name, bandwidth_bytes_per_s=bandwidth)
        if latency >= 0:
            self._engine.change("latency", link, latency)
            self._kernel.network.set_link(link.name, latency_s=latency)
        self._room.moments.is_unsettled = True

    def route(self, source: Host, destination: Host) -> tuple[float, list[int]]:
        """The latency of a route, and its links."""
        try:
            route = self._kernel.platform.route(source, destination)
        except SimunixError:
            raise OperationError(Code.NO_ROUTE) from None
        links = [self.link_named(link.name) for link in route.links if link.name in self._kernel.platform.links]
        return sum(self.link(number).latency_s for number in links), links

    def move(self, who: Participant, host: Host) -> None:
        """Have an actor compute and communicate on another host; an execution that it waits for goes on there."""
        if self.is_off(host):
            raise OperationError(Code.HOST_FAILURE)
        who.host = host
        for activity in list(who.activities):
            if (
                isinstance(activity, Execution)
                and activity.flow >= 0
                and any(wait.who.acts_for(who) for wait in activity.waits)
            ):
                activity.host = host
                self.restart(activity)
