"""The network of the emulation: flows of bytes and queues of datagrams share links by a flow model.

Control packets (SYN, RST, ICMP) take no share of a link. A flow that is alone on its links, as most traffic of an RJMS
is, needs no solver (see sharing.py). Durations are rounded up to the nanosecond. The formulas are in
csrc/network/flows.h.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Protocol

from rsg_server.clock.timeline import Event, Timeline
from rsg_server.network.datagram_queue import SMALL_BYTES, DatagramQueue, Left, Spare
from rsg_server.network.flow import Flow
from rsg_server.network.models import Model, raw
from rsg_server.network.sharing import DatagramPath, Fairness, Path, Sharing
from rsg_server.observers import Observers
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route
from rsg_server.platform.platform import Platform

CONTROL_PACKET_BYTES = 64
NS = 10**9


class Clock(Protocol):
    """The part of the virtual clock that the network uses."""

    @property
    def now_ns(self) -> int: ...


class Delays(Protocol):
    """Says how late packets are in an exploring run (rsg_server.choices.delays)."""

    def extra_ns(self, route: Route) -> int:
        """Return by how many virtual nanoseconds the next packet over a route is late."""

    def cut(self, route: Route, size_bytes: int) -> tuple[int, int]:
        """Return where bytes that are sent together are cut, as (bytes that leave first, delay of the rest in virtual ns).

        If the first number is 0, the bytes are not cut.
        """


class Network:
    """Opens flows and moves their bytes. `bytes_sent` is the payload of all flows, datagrams and packets so far."""

    def __init__(
        self,
        clock: Clock,
        timeline: Timeline,
        platform: Platform,
        model: Model | None = None,
        fairness: Fairness = Fairness.CONNECTION,
        delays: Delays | None = None,
    ) -> None:
        self.model = model or raw()
        self._delays = delays  # only in a run of `simunix explore`
        self._clock = clock
        self._timeline = timeline
        self._platform = platform
        self.sharing = Sharing(self.model, fairness, lambda action: self.at(self.now_ns, action))
        self._paths: dict[tuple[str, str], Path] = {}
        self._moving: dict[int, Flow] = {}  # all active flows, also those over links that are not shared (fat pipes)
        self._queues: dict[tuple[str, str], DatagramQueue] = {}
        self._spare = Spare()
        self._last_arrival: dict[tuple[str, str], int] = {}
        self._next_flow = 1
        self._changed: dict[str, Link] = {}  # links that differ from the platform's by now, by name
        self.down: dict[str, None] = {}  # the names of links that are down
        self.on_state: Observers[str, bool] = Observers()  # observers get the name of a link, and whether the link is up
        self.bytes_sent = 0

    @property
    def now_ns(self) -> int:
        """Virtual time: nanoseconds since the start of the run."""
        return self._clock.now_ns

    @property
    def solves(self) -> int:
        """The number of calls of the solver, which shares links between flows."""
        return self.sharing.solves

    @property
    def is_idle(self) -> bool:
        """Whether no flow has any bytes to send."""
        return not self._moving and self.sharing.is_idle

    def open_flow(self, source: Host, destination: Host, deliver: Callable[[bytes], None]) -> Flow:
        """Return a new flow: one direction of a connection. `deliver` is called with its bytes when they arrive."""
        path = self._path(source, destination)
        flow = Flow(self.new_number(), self._platform.route(source, destination), path, deliver, self)
        flow.is_within_host = source is destination
        self._refresh(flow)
        return flow

    def new_number(self) -> int:
        """Return the number of the next flow, queue or disk operation.

        Flows, queues and disk operations get new rates in the order of these numbers.
        """
        self._next_flow += 1
        return self._next_flow - 1

    def _path(self, source: Host, destination: Host) -> Path:
        pair = (source.name, destination.name)
        path = self._paths.get(pair)
        if path is None:
            path = Path(self.sharing, self.route(source, destination), self.route(destination, source))
            self._paths[pair] = path
        return path

    def message(
        self, source: Host, destination: Host, action: Callable[[], None], size_bytes: int = CONTROL_PACKET_BYTES
    ) -> None:
        """Send a packet on its own (SYN, RST, ICMP). The packet takes the latency plus its size divided by the route's
        least bandwidth.

        The packets of one pair of hosts keep their order.
        """
        self._message(source, destination, action, size_bytes)

    def _message(
        self, source: Host, destination: Host, action: Callable[[], None], size_bytes: int, earliest_ns: int = 0
    ) -> int:
        """Send a packet as `message` does, to arrive at `earliest_ns` or later.

        Return the moment (virtual ns) of its arrival.
        """
        self.bytes_sent += size_bytes
        route = self.route(source, destination)
        moment = self._clock.now_ns + route.latency_ns + math.ceil(size_bytes * NS / route.bottleneck_bytes_per_s)
        pair = (source.name, destination.name)
        moment = max(moment, self._last_arrival.get(pair, 0), earliest_ns)
        self._last_arrival[pair] = moment
        self._timeline.add(moment if source is destination else moment + self.extra_ns(route), action)
        return moment

    def extra_ns(self, route: Route) -> int:
        """Return by how many virtual ns the next packet over a route is late: 0, but in a run of `simunix explore`."""
        return 0 if self._delays is None else self._delays.extra_ns(route)

    def cut(self, route: Route, size_bytes: int) -> tuple[int, int]:
        """Return where bytes of a connection are cut, as `Delays.cut` does: nowhere, but in a run of `simunix explore`."""
        return (0, 0) if self._delays is None else self._delays.cut(route, size_bytes)

    def datagrams(self, source: Host, destination: Host) -> DatagramQueue:
        """Return the queue of datagrams from one host to another."""
        pair = (source.name, destination.name)
        queue = self._queues.get(pair)
        if queue is None:
            path = DatagramPath(self.sharing, self.route(source, destination))
            queue = self._queues[pair] = DatagramQueue(self.new_number(), self._platform.route(source, destination), path, self)
        return queue

    def datagram(self, source: Host, destination: Host, arrive: Callable[[], None], size_bytes: int, left: Left) -> None:
        """Send a datagram for which the queue has room.

        When the datagram has left, `left` is called with the moment (virtual ns) at which it began to leave. `arrive`
        is called when it arrives. Datagrams of one pair of hosts arrive in order. A few small datagrams do not change
        the rates of the flows that they meet (`Spare`). Within a host, datagrams need no queue.
        """
        if source is destination:
            left(self.now_ns)
            self._message(source, destination, arrive, size_bytes)
            return
        queue = self.datagrams(source, destination)
        if not queue.is_active and size_bytes <= SMALL_BYTES and self.sharing.is_busy(queue.path):
            shared = [link for link in self.route(source, destination).links if link.name in queue.path.shared]
            if self._spare.takes(shared, size_bytes, self.now_ns):
                left(self.now_ns)
                queue.arrival_ns = self._message(source, destination, arrive, size_bytes, queue.arrival_ns)
                return
        self.bytes_sent += size_bytes
        queue.put(size_bytes, arrive, left)

    # Changes of links

    def link(self, name: str) -> Link:
        """Return a link as it is now. Raises KeyError if no link has this name."""
        return self._changed.get(name) or self._platform.links[name]

    def set_link(
        self, name: str, bandwidth_bytes_per_s: float | None = None, latency_s: float | None = None, is_up: bool | None = None
    ) -> None:
        """Change those properties of a link that are given, from now on.

        Bytes that left their sender before the change arrive as if the link had not changed. Flows over a link that is
        down keep their rates, since a sender does not know that a link is down; rsg_server.sockets.wire discards the
        bytes that such a link would carry.
        """
        link = self.link(name)
        if is_up is not None:
            self.down.pop(name, None)
            self.down.update({} if is_up else {name: None})
            self.on_state.tell(name, is_up)
        if bandwidth_bytes_per_s is not None:
            link = replace(link, bandwidth_bytes_per_s=bandwidth_bytes_per_s)
        if latency_s is not None:
            link = replace(link, latency_s=latency_s)
        if link == self.link(name):
            return
        self._changed[name] = link
        queued = [(pair, queue.path) for pair, queue in self._queues.items()]
        for (source, destination), path in (*self._paths.items(), *queued):
            route = self.route(self._platform.host_by_name(source), self._platform.host_by_name(destination))
            path.forget(route.latency_s)
        self.sharing.change_link(link)
        for flow in self._crossing(name):
            self._refresh(flow)
            if flow.variable < 0:
                flow.change_rate(flow.path.alone)

    def route(self, source: Host, destination: Host) -> Route:
        """Return the links from one host to another as they are now."""
        return self._present(self._platform.route(source, destination))

    def _present(self, route: Route) -> Route:
        if not self._changed:
            return route
        return Route(tuple(self._changed.get(link.name, link) for link in route.links), route.distance_s)

    def _refresh(self, flow: Flow) -> None:
        """Give a flow the present properties of its links."""
        if self._changed:
            flow.route = self._present(flow.route)
            flow.links = flow.route.links

    def moving(self) -> Collection[Flow]:
        """Return all flows that have bytes to send."""
        return self._moving.values()

    def _crossing(self, name: str) -> list[Flow]:
        """Return the active flows over a link, in the order of their numbers."""
        moving = self._moving
        return [moving[number] for number in sorted(moving) if any(link.name == name for link in moving[number].links)]

    # The functions that flows call (see rsg_server.network.flow.Carrier)

    def join(self, flow: Flow) -> None:
        """Note that a flow has become active."""
        flow.updated_ns = self._clock.now_ns
        flow.rate = 0.0
        self._refresh(flow)
        self._moving[flow.number] = flow
        self.sharing.enter(flow)

    def leave(self, flow: Flow) -> None:
        """Note that a flow has nothing more to send for now."""
        del self._moving[flow.number]
        self.sharing.leave(flow)

    def settle(self) -> None:
        """Compute the rates of all flows anew, and set them.

        When flows begin or end at a moment, the rates are usually computed once, at the end of that moment.
        """
        self.sharing.settle()

    def at(self, moment_ns: int, action: Callable[[], None]) -> Event:
        """Have an action called at a moment of virtual time (ns), and return the event."""
        return self._timeline.add(moment_ns, action)
