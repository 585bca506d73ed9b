"""Hosts and links as programs of Remote SimGrid see and change them; other programs run on the same hosts and links.

If a program switches or changes a host or a link, its own activities change at once, at its date. All other programs
are affected before the next turn, as by an event of a scenario, and the event log records the change. An event of a
scenario changes the activities, too.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from rsg_server.faults.changes import Change, HostChange, LinkChange, PowerStateChange
from rsg_server.observers import Observers
from rsg_server.rsg.activity import FAILED, Execution, Io, Task
from rsg_server.rsg.cores import Cores
from rsg_server.rsg.errors import Code, OperationError

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.faults.faults import Faults
    from rsg_server.network.network import Network
    from rsg_server.platform.host import Host
    from rsg_server.platform.link import Link
    from rsg_server.platform.platform import Platform
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu import Cpu
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.moments import Timer
    from rsg_server.rsg.room import Rsg
    from rsg_server.shared.clock import Clock

FAILURES = {Execution: Code.HOST_FAILURE, Task: Code.HOST_FAILURE, Io: Code.STORAGE_FAILURE}
"""The error for activities on a host that is switched off, by their class. A communication gets a network failure."""


class Places:
    """The hosts and links of the platform by number, in the platform's order."""

    def __init__(
        self, room: Rsg, clock: Clock, timeline: Timeline, platform: Platform, network: Network, cpu: Cpu, faults: Faults
    ) -> None:
        self._room, self._engine = room, room.engine
        self._clock, self._timeline = clock, timeline
        self._platform, self._network, self._cpu, self._faults = platform, network, cpu, faults
        self.hosts = platform.hosts
        self._numbers = {host.name: number for number, host in enumerate(self.hosts)}
        self.cores = Cores(room, self, cpu, room.engine)
        self._available: dict[str, float] = {}
        self._off: set[str] = set()  # hosts that are off for Remote SimGrid; their other processes may still run
        self._cuts: dict[str, Timer] = {}  # hosts whose power is about to be cut
        self._links: list[Link] | None = None
        self._link_numbers: dict[str, int] = {}
        self.awaited: dict[Actor, str] = {}  # the threads that wait until a host is on, by the host
        self._booting: set[str] = set()  # hosts that an actor has switched on, and that have not booted yet
        # the threads that have been told that their host is on again, and have not begun their actor yet
        self.returning: set[Actor] = set()
        self.on_turned_on: Observers[str] = Observers()  # observers get a host that is on again without a boot
        faults.power.on_power.connect(self._power_changed)
        faults.on_speed.connect(self._speed_changed)
        network.on_state.connect(self._link_turned)

    def _later(self, change: Change) -> None:
        """Apply a change to all other programs before the next turn, since no actor may have the turn then."""
        self._timeline.add(self._clock.now_ns, partial(self._faults.apply, change))

    # Hosts

    def host(self, number: int) -> Host:
        """Return the host with a number. Raises OperationError if there is none."""
        if not 0 <= number < len(self.hosts):
            raise OperationError(Code.UNKNOWN_HOST)
        return self.hosts[number]

    def number_of(self, host: Host) -> int:
        """Return the number of a host in the platform's order."""
        return self._numbers[host.name]

    def number_named(self, name: str) -> int:
        """Return the number of the host with a name. Raises OperationError if there is none."""
        number = self._numbers.get(name)
        if number is None:
            raise OperationError(Code.UNKNOWN_HOST)
        return number

    def is_off(self, host: Host) -> bool:
        """Return whether a host has no power."""
        return host.name in self._off or self._faults.power.is_off(host.name)

    def power_state(self, host: Host) -> int:
        """Return the index of a host's present speed among its speeds."""
        return self._faults.power_state(host)

    def speed(self, host: Host) -> float:
        """Return the present speed of one core of a host, in flop/s."""
        return host.speeds_flops[self.power_state(host)]

    def available(self, host: Host) -> float:
        """Return the part of a host's speed that its profile leaves, from 0 to 1."""
        return self._available.get(host.name, 1.0)

    def set_available(self, host: Host, part: float) -> None:
        """Set the part of a host's speed that is left. Executions there continue at the new speed."""
        self._available[host.name] = part
        if self._room.is_used:
            self._cpu.change_speed(host.name, self.speed(host) * part)
        self._speed_changed(host)

    def turn(self, host: Host, is_on: bool) -> None:
        """Switch a host on or off for Remote SimGrid: when it goes off, its actors and all activities there end."""
        if is_on:
            if host.name in self._off:
                self._off.remove(host.name)
                if not self._faults.power.is_off(host.name):
                    self.on_turned_on.tell(host.name)
                    self._tell_awaiting(host.name)
        else:
            self._off.add(host.name)
            self._lose(host)

    def _tell_awaiting(self, name: str) -> None:
        for thread in [thread for thread, awaited in self.awaited.items() if awaited == name]:
            del self.awaited[thread]
            self.returning.add(thread)
            self._room.tell(thread)

    def switch(self, host: Host, is_on: bool) -> None:
        """Switch a host on or off, with all programs that run there."""
        self.turn(host, is_on)
        cut = self._cuts.pop(host.name, None)
        if cut is not None:
            cut.cancel()
        if not is_on:
            self._cuts[host.name] = self._room.moments.after(0.0, partial(self._cut, host))
        elif self._faults.power.is_off(host.name):
            self._booting.add(host.name)
            self._later(HostChange(host.name, "on"))

    @property
    def actors_return(self) -> bool:
        """Return whether a thread will begin an actor again, because its host was switched on, or will be."""
        return bool(self.returning) or not self._booting.isdisjoint(self.awaited.values())

    def _cut(self, host: Host) -> None:
        """Cut the power of a host whose actors have ended, unless a process there has actors on other hosts."""
        del self._cuts[host.name]
        if not self._room.lives.lives_in_process_of(host):
            self._later(HostChange(host.name, "off"))

    def _power_changed(self, name: str, is_on: bool) -> None:
        """Handle that a host has been switched on or off by something else, such as an event of a scenario."""
        if is_on:
            self._off.discard(name)
            self._booting.discard(name)
            self._tell_awaiting(name)
        elif self._room.is_used:
            self._room.moments.follow()
            self._lose(self._platform.host_by_name(name))

    def _lose(self, host: Host) -> None:
        self._room.moments.is_unsettled = True
        for who in [one for one in self._room.participants.values() if one.host is host]:
            self._room.lives.kill(who)
        for activity in list(self._room.flows.values()):
            if host in activity.hosts():
                activity.error = FAILURES.get(type(activity), Code.NETWORK_FAILURE)
                self._room.comms.end(activity, FAILED)

    def set_power_state(self, host: Host, number: int) -> None:
        """Set the power state of a host. Executions there continue at the new speed."""
        if not 0 <= number < len(host.speeds_flops):
            raise OperationError(Code.BAD_VALUE)
        self._faults.apply(PowerStateChange(host.name, number))

    def _speed_changed(self, host: Host) -> None:
        if not self._room.is_used:
            return
        self._room.moments.follow()
        if self.available(host) != 1.0:
            self._cpu.change_speed(host.name, self.speed(host) * self.available(host))
        self.cores.change_speed(host)

    # Links

    @property
    def links(self) -> list[Link]:
        """All links of the platform, in the order of its description."""
        if self._links is None:
            self._links = list(self._platform.links.values())
            self._link_numbers = {link.name: number for number, link in enumerate(self._links)}
        return self._links

    def link(self, number: int) -> Link:
        """Return the link with a number. Raises OperationError if there is none."""
        if not 0 <= number < len(self.links):
            raise OperationError(Code.UNKNOWN_LINK)
        return self._network.link(self.links[number].name)

    def link_named(self, name: str) -> int:
        """Return the number of the link with a name. Raises OperationError if there is none."""
        if not self.links or name not in self._link_numbers:
            raise OperationError(Code.UNKNOWN_LINK)
        return self._link_numbers[name]

    def is_link_on(self, link: Link) -> bool:
        """Return whether a link is up."""
        return link.name not in self._network.down

    def turn_link(self, link: Link, is_on: bool) -> None:
        """Switch a link on or off for activities: those that cross it fail. TCP's packets are lost there, too."""
        self._network.set_link(link.name, is_up=is_on)

    def switch_link(self, link: Link, is_on: bool) -> None:
        """Switch a link on or off for all programs."""
        self.turn_link(link, is_on)
        self._later(LinkChange(link.name, is_up=is_on))

    def _link_turned(self, name: str, is_on: bool) -> None:
        """Handle that an event has switched a link on or off. Only activities that begin now use a link that is on again."""
        if self._room.is_used:
            self._room.moments.follow()
            self._engine.change("state", self._network.link(name), float(is_on))
            self._room.moments.is_unsettled = True

    def find_links_down(self) -> None:
        """Find out which links are down, before the first actor begins."""
        for name in self._network.down:
            self._engine.change("state", self._network.link(name), 0.0)

    def set_link(self, link: Link, bandwidth: float, latency: float) -> None:
        """Set the bandwidth and the latency of a link for activities. A value below 0 leaves the old value."""
        values = (bandwidth if bandwidth >= 0 else None, latency if latency >= 0 else None)
        self._network.set_link(link.name, *values)
        self._room.moments.is_unsettled = True

    def change_link(self, link: Link, bandwidth: float, latency: float) -> None:
        """Set the bandwidth and the latency of a link for all programs."""
        self.set_link(link, bandwidth, latency)
        values = (bandwidth if bandwidth >= 0 else None, latency if latency >= 0 else None)
        self._later(LinkChange(link.name, bandwidth_bytes_per_s=values[0], latency_s=values[1]))

    def route(self, source: Host, destination: Host) -> tuple[float, list[int]]:
        """Return the latency of a route, and the numbers of its links."""
        try:
            route = self._platform.route(source, destination)
        except SimunixError:
            raise OperationError(Code.NO_ROUTE) from None
        links = [self.link_named(link.name) for link in route.links if link.name in self._platform.links]
        return sum(self.link(number).latency_s for number in links), links

    def move(self, who: Participant, host: Host) -> None:
        """Move an actor to another host. An execution that the actor waits for continues there."""
        if self.is_off(host):
            raise OperationError(Code.HOST_FAILURE)
        who.host = host
        for activity in list(who.activities):
            if (
                isinstance(activity, Execution)
                and activity.flow >= 0
                and any(wait.who.acts_for(who) for wait in activity.waits)
            ):
                self.cores.move(activity, host)
