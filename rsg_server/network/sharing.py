"""Which flows of connections meet on a link, and the rates that the solver gives them then.

A flow whose shared links nobody else uses has a rate that depends on its route alone: it is known without asking the solver.
When another one comes onto one of its links, both are given to the solver, and leave it when they have nothing more to send.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from rsg_server._network import ffi, lib
from rsg_server.network.models import Model
from rsg_server.network.solver import SharedLinks
from rsg_server.platform.link import Link, Route, SharingPolicy

if TYPE_CHECKING:
    from rsg_server.network.flow import Flow

WINDOW_BYTES = 262_144
"""What one direction of a connection may have under way or undelivered, besides what its route holds by itself."""


class Fairness(Enum):
    """Who has equal shares of a link: every connection, or all connections of two hosts in one direction together."""

    CONNECTION = "connection"
    HOSTS = "hosts"


class Path:
    """A route as the solver has it, and what a flow has alone on it; `shared` are the links on which it meets others."""

    __slots__ = ("_alone", "_sharing", "active", "factor", "latency_s", "number", "shared")

    def __init__(self, sharing: Sharing, there: Route, back: Route) -> None:
        self._sharing = sharing
        self._alone: float | None = None
        self.factor = sharing.bandwidth_factor
        self.latency_s = there.latency_s
        self.number = sharing.links.route(there, back)
        returning = back.links if sharing.model.cross_traffic else ()
        meeting = [link.name for link in (*there.links, *returning) if sharing.is_shared(link)]
        self.shared = tuple(dict.fromkeys(meeting))
        self.active: dict[int, Flow] = {}

    @property
    def alone(self) -> float:
        """Bytes per second of a flow that is alone."""
        if self._alone is None:
            self._alone = float(lib.network_alone(self._sharing.links.net, self.number, self.factor))
        return self._alone

    @property
    def window_bytes(self) -> int:
        """What one direction of a connection may have under way: as TCP's buffers grow with bandwidth times round trip."""
        return WINDOW_BYTES + int(2 * self.latency_s * self.alone)

    def forget(self, latency_s: float) -> None:
        """A link has changed."""
        self._alone = None
        self.latency_s = latency_s


class DatagramPath(Path):
    """A route for datagrams: nothing comes back, there is no window, and headers are counted with each of them."""

    __slots__ = ()

    def __init__(self, sharing: Sharing, there: Route) -> None:
        super().__init__(sharing, there, Route(()))
        self.factor = 1.0
        lib.network_unbind_route(sharing.links.net, self.number)


class Sharing:
    """All active flows by the shared links that they use. `changed` is told each flow that has a new rate, oldest first."""

    def __init__(self, model: Model, fairness: Fairness, changed: Callable[[Flow, float], None]) -> None:
        self.model = model
        self.links = SharedLinks(model)
        self.bandwidth_factor = model.bandwidth_factor.of(float("inf"))
        self.solves = 0
        self._fairness = fairness
        self._changed = changed
        self._active: dict[str, dict[int, Flow]] = {}
        self._solved: dict[int, Flow] = {}  # by the number that the solver has given

    def is_shared(self, link: Link) -> bool:
        """Whether flows meet on it."""
        return self.model.shares and link.policy is SharingPolicy.SHARED

    @property
    def is_idle(self) -> bool:
        """Whether no flow is on any shared link."""
        return not any(self._active.values())

    def is_busy(self, path: Path) -> bool:
        """Whether somebody is on one of its shared links."""
        return any(self._active.get(name) for name in path.shared)

    def enter(self, flow: Flow) -> None:
        """A flow has something to send: it is told its rate, and so are those that it meets."""
        is_alone = True
        for name in flow.path.shared:
            flows = self._active.setdefault(name, {})
            is_alone = is_alone and not flows
            flows[flow.number] = flow
        flow.path.active[flow.number] = flow
        if is_alone:
            self._changed(flow, flow.path.alone)
            return
        for name in flow.path.shared:
            for other in self._active[name].values():
                self._give(other)
        self._weigh(flow.path)
        self._share()

    def leave(self, flow: Flow) -> None:
        """A flow has nothing more to send."""
        for name in flow.path.shared:
            self._active[name].pop(flow.number, None)
        flow.path.active.pop(flow.number, None)
        if flow.variable < 0:
            return
        lib.network_remove(self.links.net, flow.variable)
        del self._solved[flow.variable]
        flow.variable = -1
        self._weigh(flow.path)
        if self._solved:
            self._share()

    def change_link(self, link: Link) -> None:
        """A link has become what is given."""
        number = self.links.links.get(link.name)
        if number is None:
            return
        lib.network_set_bandwidth(self.links.net, number, link.bandwidth_bytes_per_s)
        lib.network_set_latency(self.links.net, number, link.latency_s)
        if self._solved:
            self._share()

    def _give(self, flow: Flow) -> None:
        """Let the solver have it."""
        if flow.variable < 0:
            flow.variable = lib.network_add(self.links.net, flow.path.number, 1.0, flow.path.factor, 0.0, 1.0)
            lib.network_start(self.links.net, flow.variable)
            self._solved[flow.variable] = flow

    def _weigh(self, path: Path) -> None:
        """Where two hosts count as one, their flows have a part of one share each."""
        if self._fairness is Fairness.CONNECTION:
            return
        for flow in path.active.values():
            if flow.variable >= 0:
                lib.network_set_weight(self.links.net, flow.variable, 1 / len(path.active))

    def _share(self) -> None:
        self.solves += 1
        count = lib.network_share(self.links.net)
        if not count:
            return
        changed = [self._solved[variable] for variable in ffi.unpack(lib.network_changed(self.links.net), count)]
        for flow in sorted(changed, key=_age):
            self._changed(flow, lib.network_rate(self.links.net, flow.variable))


def _age(flow: Flow) -> int:
    return flow.number
