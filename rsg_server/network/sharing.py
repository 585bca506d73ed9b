"""Finds which flows meet on a link, and gives them the rates that the solver computes. Operations on disks count as flows.

The rate of a flow whose shared links no other flow uses depends on its route alone, so the solver is not called for it.
When another flow enters one of these links, both go into the solver; a flow leaves the solver when it has nothing more
to send. Invariant: of the active flows, exactly those that have met another one are in the solver (`variable` is not
-1).

The solver is called once for all flows that begin and end at a moment, after everything else that was due at this
moment: N connections that begin together cost one call, not N calls over up to N flows each. No byte leaves before that
call, since no time passes. If the last bytes of several flows of a link leave at one moment, the flows end in the order
in which these events were scheduled.

The transfers of Remote SimGrid's programs share the same links in the same solver; the code that owns them is called
the partner. A flow on a link that the partner uses is not alone. When a transfer begins on a link that one flow had
alone, the partner calls `meet`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from enum import Enum
from typing import Protocol

from rsg_server._network import ffi, lib
from rsg_server.network.models import Model
from rsg_server.network.solver import SharedLinks
from rsg_server.platform.link import Link, Route, SharingPolicy

WINDOW_BYTES = 262_144
"""The bytes that one direction of a connection may have on their way or unread, besides what its route holds (see Path)."""


class Fairness(Enum):
    """Between what a link is divided equally: between connections, or between pairs of hosts, whatever number of
    connections a pair has.
    """

    CONNECTION = "connection"
    HOSTS = "hosts"


class Sharer(Protocol):
    """A flow, as far as sharing knows it. `variable` is its number in the solver, -1 while it is not in the solver."""

    variable: int

    @property
    def number(self) -> int: ...
    @property
    def path(self) -> Path: ...
    def change_rate(self, rate: float, /) -> None: ...


Group = Hashable
"""The key of a group of flows, which have one share of a link together."""


class Usage(Protocol):
    """Counts what operations on disks do. Disks are known by the names in `Path.shared`."""

    def began(self, shared: tuple[str, ...], now_ns: int, /) -> None: ...
    def moved(self, shared: tuple[str, ...], begin_ns: int, end_ns: int, size_bytes: float, /) -> None: ...
    def ended(self, shared: tuple[str, ...], now_ns: int, /) -> None: ...


class Partner(Protocol):
    """The code that has flows of its own in the solver: Remote SimGrid."""

    def share(self) -> list[int]:
        """Compute all rates anew. Return the numbers, in the solver, of flows that are not the partner's and have new rates."""


class Path:
    """A route that the solver knows, and the rate of a flow that is alone on it.

    `shared` are the names of the links on which its flows can meet others.
    """

    __slots__ = ("_alone", "_sharing", "active", "factor", "is_of_hosts", "latency_s", "number", "shared", "weight")

    def __init__(self, sharing: Sharing, there: Route, back: Route) -> None:
        self._sharing = sharing
        self._alone: float | None = None
        self.factor = sharing.bandwidth_factor
        self.is_of_hosts = True  # whether the flows of this path have one share together under Fairness.HOSTS
        self.weight = 1.0  # the share of each flow of this path, relative to the shares of flows of other paths
        self.latency_s = there.latency_s
        self.number = sharing.links.route(there, back)
        returning = back.links if sharing.model.cross_traffic else ()
        meeting = [link.name for link in (*there.links, *returning) if sharing.is_shared(link)]
        self.shared = tuple(dict.fromkeys(meeting))
        self.active: dict[int, Sharer] = {}

    @property
    def alone(self) -> float:
        """The rate (bytes/s) of a flow that has the route to itself."""
        if self._alone is None:
            self._alone = float(lib.network_alone(self._sharing.links.net, self.number, self.factor))
        return self._alone

    @property
    def window_bytes(self) -> int:
        """The most bytes that one direction of a connection may have on their way.

        The number of bytes grows with bandwidth times round-trip time, as TCP's buffers do.
        """
        return WINDOW_BYTES + int(2 * self.latency_s * self.alone)

    def forget(self, latency_s: float) -> None:
        """Note that a link of the route has changed: its latency is `latency_s` now, and `alone` must be computed anew."""
        self._alone = None
        self.latency_s = latency_s


class DatagramPath(Path):
    """A route for datagrams.

    Unlike a connection's, it has no acknowledgements and no window, and headers count with each datagram.
    """

    __slots__ = ()

    def __init__(self, sharing: Sharing, there: Route) -> None:
        super().__init__(sharing, there, Route(()))
        self.factor = 1.0
        lib.network_unbind_route(sharing.links.net, self.number)


class DiskPath(Path):
    """The part of a disk that operations of one direction (read or write) share. Each operation has a share of its own,
    under both kinds of Fairness.
    """

    __slots__ = ()

    def __init__(self, sharing: Sharing, there: Route) -> None:
        super().__init__(sharing, there, Route(()))
        self.factor = 1.0
        self.is_of_hosts = False


class ServedDiskPath(Path):
    """The resources that operations of one direction on a file server's disk share: the disk, and the links between the
    server and a host.

    An operation first waits for `latency_s`. The latency of the links bounds the window of the operation.
    """

    __slots__ = ()

    def __init__(self, sharing: Sharing, links: Route, back: Route, disk: Route, latency_s: float) -> None:
        super().__init__(sharing, Route((*links.links, *disk.links), links.distance_s), back)
        self.is_of_hosts = False
        self.latency_s = latency_s

    @property
    def penalty(self) -> float:
        """The penalty of each operation, by which the flow model divides links.

        An operation of the server itself has the penalty 1.
        """
        return float(lib.network_route_penalty(self._sharing.links.net, self.number))


class Sharing:
    """All active flows, by the shared links that they use. Flows get new rates in the order of their numbers.

    `soon` has an action called at the present moment of virtual time, after everything that is due then.
    """

    def __init__(self, model: Model, fairness: Fairness, soon: Callable[[Callable[[], None]], object]) -> None:
        self.model = model
        self.usage: Usage | None = None
        self.partner: Partner | None = None
        self._soon = soon
        # flows have begun or ended since the last call of the solver; the solver is called at the end of this moment
        self._is_stale = False
        self.links = SharedLinks(model)
        self.bandwidth_factor = model.bandwidth_factor.of(float("inf"))
        self.solves = 0
        self._fairness = fairness
        self._active: dict[str, dict[int, Sharer]] = {}
        self._solved: dict[int, Sharer] = {}  # by the number that the solver has given to the flow
        self._groups: dict[Group, dict[int, Sharer]] = {}
        self._alone: dict[int, Sharer] = {}  # the active flows that are not in the solver

    def is_shared(self, link: Link) -> bool:
        """Return whether flows on this link share its bandwidth."""
        return link.policy is SharingPolicy.DISK or (self.model.shares and link.policy is SharingPolicy.SHARED)

    @property
    def is_idle(self) -> bool:
        """Whether no flow is on any shared link."""
        return not any(self._active.values())

    def is_busy(self, path: Path) -> bool:
        """Return whether a flow is on one of the shared links of a path."""
        return any(self._active.get(name) for name in path.shared)

    def enter(self, flow: Sharer, group: Group = None) -> None:
        """Add a flow that has something to send: give it a rate, and at this moment new rates to the flows that it meets.

        The flows of a group have one share together, and each flow has an equal part of that share; all flows of the
        group use some link in common.
        """
        is_alone = True
        if group is not None:
            self._groups.setdefault(group, {})[flow.number] = flow
        for name in flow.path.shared:
            flows = self._active.setdefault(name, {})
            is_alone = is_alone and not flows
            flows[flow.number] = flow
        flow.path.active[flow.number] = flow
        if is_alone and not self._meets_partner(flow):
            self._alone[flow.number] = flow
            flow.change_rate(flow.path.alone)
            return
        for name in flow.path.shared:
            flows = self._active[name]
            # if there are more than two flows, the others are in the solver already
            for other in flows.values() if len(flows) == 2 else (flow,):
                self._give(other)
        self._weigh(flow.path)
        self._weigh_group(group)
        self._share_soon()

    def _meets_partner(self, flow: Sharer) -> bool:
        return self.partner is not None and bool(lib.network_is_claimed(self.links.net, flow.path.number))

    def meet(self) -> None:
        """Put those flows into the solver that had a link for themselves until the partner began to use the link."""
        for flow in [flow for flow in self._alone.values() if self._meets_partner(flow)]:
            self._give(flow)
            self._weigh(flow.path)
            self._share_soon()

    def leave(self, flow: Sharer, group: Group = None) -> None:
        """Remove a flow that has nothing more to send. `group` must be the group with which the flow entered."""
        if group is not None:
            del self._groups[group][flow.number]
        for name in flow.path.shared:
            self._active[name].pop(flow.number, None)
        flow.path.active.pop(flow.number, None)
        self._alone.pop(flow.number, None)
        if flow.variable < 0:
            self._weigh_group(group)
            return
        lib.network_remove(self.links.net, flow.variable)
        del self._solved[flow.variable]
        flow.variable = -1
        self._weigh(flow.path)
        self._weigh_group(group)
        self._share_soon()

    def change_link(self, link: Link) -> None:
        """Note that a link has another bandwidth or latency from now on, and compute the rates anew."""
        number = self.links.links.get(link.name)
        if number is None:
            return
        lib.network_set_bandwidth(self.links.net, number, link.bandwidth_bytes_per_s)
        lib.network_set_latency(self.links.net, number, link.latency_s)
        self._share()

    def _give(self, flow: Sharer) -> None:
        """Put a flow into the solver, unless it is in the solver already."""
        if flow.variable < 0:
            self._alone.pop(flow.number, None)
            path = flow.path
            flow.variable = lib.network_add(self.links.net, path.number, 1.0, path.factor, 0.0, path.weight, False)
            lib.network_start(self.links.net, flow.variable)
            self._solved[flow.variable] = flow

    def _weigh(self, path: Path) -> None:
        """Under Fairness.HOSTS, divide one share equally among the flows of a path that are in the solver."""
        if self._fairness is Fairness.CONNECTION or not path.is_of_hosts:
            return
        for flow in path.active.values():
            if flow.variable >= 0:
                lib.network_set_weight(self.links.net, flow.variable, 1 / len(path.active))

    def _weigh_group(self, group: Group) -> None:
        """Divide one share equally among the flows of a group that are in the solver."""
        if group is None:
            return
        flows = self._groups[group]
        for flow in flows.values():
            if flow.variable >= 0:
                lib.network_set_weight(self.links.net, flow.variable, flow.path.weight / len(flows))
        if not flows:
            del self._groups[group]

    def _share_soon(self) -> None:
        if not self._is_stale:
            self._is_stale = True
            self._soon(self.settle)

    def settle(self) -> None:
        """Compute the rates of all flows anew, if flows have begun or ended since the last time."""
        if self._is_stale:
            self._share()

    def _share(self) -> None:
        self._is_stale = False
        if self.partner is not None:
            self.solves += 1
            self.take(self.partner.share())
            return
        if not self._solved:
            return
        self.solves += 1
        count = lib.network_share(self.links.net)
        if count:
            self.take(ffi.unpack(lib.network_changed(self.links.net), count))

    def take(self, changed: Iterable[int]) -> None:
        """Give flows their new rates. `changed` has the variables of these flows in the solver.

        A variable of an activity of Remote SimGrid is left out, since no flow here has this variable.
        """
        for flow in sorted((self._solved[variable] for variable in changed if variable in self._solved), key=_age):
            flow.change_rate(lib.network_rate(self.links.net, flow.variable))


def _age(flow: Sharer) -> int:
    return flow.number
