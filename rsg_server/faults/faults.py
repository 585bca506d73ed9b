"""Faults: changes of hosts, links and reachability, at moments that a scenario sets or when a user asks.

Each change writes one line to the event log. The function that carries out a change returns the changes that undo it.
When a change ends that held for a while, rsg_server/faults/held.py says which of these still have to be made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from rsg_server.faults.changes import (
    CONDITIONS,
    REBOOT_NS,
    SAME_VALUE,
    Change,
    ClockChange,
    DriftChange,
    Fault,
    FaultProfile,
    Heal,
    HostChange,
    LinkChange,
    Loss,
    Partition,
    PowerStateChange,
    ProcessChange,
    StorageChange,
)
from rsg_server.faults.held import Held, changes_of, values_of
from rsg_server.faults.power import Power
from rsg_server.observers import Observers
from rsg_server.storage.disks import Condition

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.event_log import EventLog
    from rsg_server.network.network import Network
    from rsg_server.platform.host import Host
    from rsg_server.platform.platform import Platform
    from rsg_server.process.cpu import Cpu
    from rsg_server.process.host_state import HostState
    from rsg_server.shared.clock import Clock
    from rsg_server.shared.wall_clocks import WallClocks
    from rsg_server.sockets.keepalive import Keepalive
    from rsg_server.sockets.reachability import Reachability
    from rsg_server.sockets.table import SocketTable
    from rsg_server.storage.storages import Storages


class Faults:
    """Carries out changes. The caller must have checked by `check` that each change fits the platform."""

    def __init__(
        self,
        clock: Clock,
        timeline: Timeline,
        log: EventLog,
        platform: Platform,
        *,
        network: Network,
        reach: Reachability,
        cpu: Cpu,
        sockets: SocketTable,
        storages: Storages,
        keepalive: Keepalive,
        power: Power,
        wall_clocks: WallClocks,
    ) -> None:
        self._clock, self._timeline, self._log, self._platform = clock, timeline, log, platform
        self._network, self._reach, self._cpu = network, reach, cpu
        self._sockets, self._storages = sockets, storages
        self.keepalive, self.power, self._wall_clocks = keepalive, power, wall_clocks
        power.on_reach.connect(self._host_reached)
        power.on_silence.connect(keepalive.look)
        self.on_power_state: Observers[str, int] = Observers()  # observers get a host's name and the host's new state
        self.on_speed: Observers[Host] = Observers()  # these observers are called before those of on_power_state
        self.on_link: Observers[str] = Observers()  # observers get the name of a link that may have changed
        self.on_process: Observers[ProcessChange, bool] = Observers()  # observers get a change, and whether it is for a while
        self._power_states: dict[str, int] = {}  # of hosts that are not in their first one
        self._held = Held()
        self._do: dict[type, Callable[[Any], tuple[Change, ...]]] = {
            ProcessChange: self._change_process,
            PowerStateChange: self._change_power_state,
            ClockChange: self._set_clock,
            DriftChange: self._let_drift,
            LinkChange: self._change_link,
            StorageChange: self._change_storage,
            Partition: self._partition,
            Heal: self._heal,
            Loss: self._lose,
        }

    def schedule(self, faults: Iterable[Fault]) -> None:
        """Plan faults at their moments; faults of one moment happen in the order given."""
        for fault in faults:
            if isinstance(fault.change, HostChange) and fault.change.state == "on":
                self.power.start_later(fault.change.host, fault.at_ns - self._clock.now_ns)
            else:
                self._timeline.add(fault.at_ns, partial(self.apply, fault.change, fault.for_ns))

    def play(self, profile: FaultProfile) -> None:
        """Start a profile now; a profile that loops starts itself again."""
        now_ns = self._clock.now_ns
        self.schedule(Fault(now_ns + point.at_ns, point.change) for point in profile.points)
        if profile.loop_after_ns is not None:
            end_ns = now_ns + profile.points[-1].at_ns
            self._timeline.add(end_ns + profile.loop_after_ns, partial(self.play, profile))

    def apply(self, change: Change, for_ns: int | None = None) -> None:
        """Carry out a change now, and undo it after `for_ns`, except for values that a later change has set by then.

        Only an action of the timeline may call this: no actor has the turn then.
        """
        if isinstance(change, HostChange) and change.state == "reboot":
            for_ns = REBOOT_NS if for_ns is None else for_ns
        if isinstance(change, HostChange):
            self._change_host(change, for_ns)
            return
        if isinstance(change, ProcessChange):
            backs = self._change_process(change, for_ns is not None)
        else:
            backs = self._do[type(change)](change)
        before = {key: value for back in backs for key, value in values_of(back, SAME_VALUE.get(type(back))).items()}
        if for_ns is None or isinstance(change, Heal):
            self._held.replace(before)
        else:
            self._timeline.add(self._clock.now_ns + for_ns, partial(self._take_back, change, self._held.begin(before)))

    def _take_back(self, change: Change, number: int) -> None:
        """Undo a change that was made for a while, at the end of that while."""
        backs = changes_of(self._held.end(number))
        if isinstance(change, LinkChange) and len(backs) > 1 and len({replace(back, link="") for back in backs}) == 1:
            backs = [replace(backs[0], link=change.link)]  # both directions of a link, by one name
        for back in backs:
            if not isinstance(back, Partition):  # links that were cut before this change stay cut
                self._do[type(back)](back)

    # Hosts

    def _change_host(self, change: HostChange, for_ns: int | None = None) -> None:
        power, host = self.power, change.host
        if change.state == "on":
            power.start(host)
        elif change.state == "hang":
            power.boots.let_hang(host)
        elif change.state == "off":
            if for_ns is not None:
                power.start_later(host, for_ns)
            power.cut(host)
        else:
            power.shut_down(host, change.grace_ns, for_ns)

    def _host_reached(self, host: HostState, is_on: bool) -> None:
        if not is_on:
            self._sockets.lose_host(host)
            self._storages.lose_host(host.name)
        self._storages.disks.look()

    def _change_process(self, change: ProcessChange, is_for_a_while: bool = False) -> tuple[Change, ...]:
        self._note("process", host=change.host, process=change.process, state=change.process_state)
        self.on_process.tell(change, is_for_a_while)
        return (replace(change, process_state="running"),)

    def power_state(self, host: Host) -> int:
        """Return the power state of a host: the place of its present speed in its list of speeds."""
        return self._power_states.get(host.name, host.power_state)

    def _change_power_state(self, change: PowerStateChange) -> tuple[Change, ...]:
        """Change the speed of all cores. A host that is off will boot into the power state that it was given last."""
        host = self._platform.host_by_name(change.host)
        before = self.power_state(host)
        self._power_states[host.name] = change.number
        self._cpu.change_speed(host.name, host.speeds_flops[change.number])
        self.on_speed.tell(host)
        self._note("power_state", host=host.name, state=change.number)
        self.on_power_state.tell(host.name, change.number)
        return (PowerStateChange(host.name, before),)

    def _set_clock(self, change: ClockChange) -> tuple[Change, ...]:
        before = self._wall_clocks.ahead_ns(change.host)
        self._wall_clocks.set(change.host, change.ahead_ns)
        self._note("clock", host=change.host, ahead_ns=change.ahead_ns)
        return (ClockChange(change.host, before),)

    def _let_drift(self, change: DriftChange) -> tuple[Change, ...]:
        before = self._wall_clocks.drift_ppm(change.host)
        self._wall_clocks.set_drift(change.host, change.drift_ppm)
        self._note("drift", host=change.host, ppm=change.drift_ppm)
        return (DriftChange(change.host, before),)

    # Links

    def _change_link(self, change: LinkChange) -> tuple[Change, ...]:
        names = link_names(self._platform, change.link)
        backs = tuple(self._undoing(change, name) for name in names)
        for name in names:
            self._network.set_link(name, change.bandwidth_bytes_per_s, change.latency_s, change.is_up)
            if change.loss is not None:
                self._set_link_loss(name, change.loss)
            self.on_link.tell(name)
        said = {
            "bandwidth_bytes_per_s": change.bandwidth_bytes_per_s,
            "latency_s": change.latency_s,
            "up": change.is_up,
            "loss": change.loss,
        }
        self._note("link", link=change.link, **{key: value for key, value in said.items() if value is not None})
        self._storages.disks.link_changed()
        self._storages.disks.look()
        if change.is_up is False:
            self.keepalive.look()
        return backs

    def _undoing(self, change: LinkChange, name: str) -> LinkChange:
        """Return the change that gives a link back the values that `change` is about to replace."""
        network = self._network
        link = network.link(name)
        return LinkChange(
            name,
            bandwidth_bytes_per_s=None if change.bandwidth_bytes_per_s is None else link.bandwidth_bytes_per_s,
            latency_s=None if change.latency_s is None else link.latency_s,
            is_up=None if change.is_up is None else name not in network.down,
            loss=None if change.loss is None else self._reach.link_loss.get(name, 0.0),
        )

    def _set_link_loss(self, name: str, loss: float) -> None:
        losses = self._reach.link_loss
        losses.pop(name, None)
        if loss:
            losses[name] = loss

    # Storages

    def _change_storage(self, change: StorageChange) -> tuple[Change, ...]:
        host, disks = self._platform.host_by_name(change.host), self._storages.disks
        number = disk_number(host, change.storage)
        before, condition = disks.disk(host, number), disks.condition(host, number)
        given = {name: value for name in _OF_DISK if (value := getattr(change, name)) is not None}
        if given:
            disks.change(host, number, replace(before, **given))
        if change.condition is not None:
            disks.set_condition(host, number, Condition(change.condition))
        said = {**given, **({} if change.condition is None else {"state": change.condition})}
        self._note("storage", host=change.host, storage=change.storage, **said)
        values = {name: getattr(before, _NOW.get(name, name)) for name in given}
        was = None if change.condition is None else condition.value
        return (StorageChange(change.host, change.storage, condition=was, **values),)

    # Sets of hosts

    def _sides(self, one: tuple[str, ...], other: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
        first = frozenset(one)
        return first, frozenset(other) or frozenset(host.name for host in self._platform.hosts) - first

    def _partition(self, change: Partition) -> tuple[Change, ...]:
        cuts, sides = self._reach.cuts, self._sides(change.one, change.other)
        was_cut = sides in cuts
        if not was_cut:
            cuts.append(sides)
        self._note("partition", one=list(change.one), other=list(change.other))
        self.keepalive.look()
        self._storages.disks.look()
        return (change if was_cut else Heal(change.one, change.other),)

    def _heal(self, change: Heal) -> tuple[Change, ...]:
        reach = self._reach
        if not change.one:
            self._held.replace_all(Heal)
        reach.cuts = [cut for cut in reach.cuts if change.one and cut != self._sides(change.one, change.other)]
        self._note("heal", one=list(change.one), other=list(change.other))
        self._storages.disks.look()
        return (change,)

    def _lose(self, change: Loss) -> tuple[Change, ...]:
        rates, sides = self._reach.pair_loss, self._sides(change.one, change.other)
        before = rates.pop(sides, 0.0)
        if change.rate:
            rates[sides] = change.rate
        self._note("loss", one=list(change.one), other=list(change.other), rate=change.rate)
        return (Loss(change.one, before, change.other),)

    def _note(self, kind: str, **fields: object) -> None:
        self._log.event(self._clock.now_ns, kind, **fields)


# Checking

OF_A_HOST = (HostChange, ProcessChange, PowerStateChange, ClockChange, DriftChange, StorageChange)
"""The changes that concern one host."""


def link_names(platform: Platform, name: str) -> tuple[str, ...]:
    """Return the links that a name means: one link, or both directions of a host's link or a split-duplex link; empty
    if no link has the name.
    """
    if name in platform.links:
        return (name,)
    pair = (f"{name}_UP", f"{name}_DOWN")
    return pair if all(each in platform.links for each in pair) else ()


_OF_DISK = ("read_bytes_per_s", "write_bytes_per_s", "readwrite_bytes_per_s", "latency_s")
"""The fields of StorageChange that a disk has as well."""
_NOW = {"readwrite_bytes_per_s": "together_bytes_per_s"}
"""For some of these fields, the attribute of a disk whose value is used if the field is None."""


def disk_number(host: Host, storage: str) -> int:
    """Return the number of a storage in its host's list of storages.

    Raises SimunixError for a storage that the host does not have.
    """
    names = [disk.name for disk in host.disks]
    if storage not in names:
        known = f"it has {', '.join(names)}" if names else "it has none"
        raise SimunixError(f"host {host.name} has no storage {storage!r}; {known}")
    return names.index(storage)


def check(platform: Platform, change: Change) -> None:
    """Raise SimunixError, in one line, if a change does not fit the platform."""
    known = [host.name for host in platform.hosts]
    hosts = [change.host] if isinstance(change, OF_A_HOST) else []
    if isinstance(change, (Partition, Heal, Loss)):
        hosts = [*change.one, *change.other]
        both = sorted(set(change.one) & set(change.other))
        if both:
            raise SimunixError(f"host {both[0]} is on both sides; name it on one")
        if isinstance(change, (Partition, Loss)) and not change.other and set(change.one) >= set(known):
            raise SimunixError("the only side given names all hosts; leave out the hosts of the other side, or name both sides")
    for host in hosts:
        if host not in known:
            raise SimunixError(_unknown("host", host, known))
    if isinstance(change, PowerStateChange):
        _check_power_state(platform.host_by_name(change.host), change.number)
    if isinstance(change, StorageChange):
        disk_number(platform.host_by_name(change.host), change.storage)
        if change.condition is not None and change.condition not in CONDITIONS:
            raise SimunixError(f"state {change.condition!r} of a storage: known: {', '.join(CONDITIONS)}")
    if isinstance(change, LinkChange) and not link_names(platform, change.link):
        raise SimunixError(_unknown("link", change.link, [*known, *platform.links]))


def _check_power_state(host: Host, state: int) -> None:
    speeds = host.speeds_flops
    if not 0 <= state < len(speeds):
        known = f"power states 0 to {len(speeds) - 1}" if len(speeds) > 1 else "power state 0 only, since it has one speed"
        raise SimunixError(f"power state {state}: host {host.name} has {known}; give it more speeds, or choose another state")
    if speeds[state] <= 0:
        raise SimunixError(f"power state {state} of host {host.name} has speed 0, at which nothing ever ends; choose another")


def _unknown(what: str, name: str, known: list[str]) -> str:
    import difflib  # imported for an error message only: every run loads this file

    close = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    more = ", …" if len(known) > 12 else ""
    return f"{what} {name!r}: no such {what}; {hint}known: {', '.join(known[:12])}{more}"
