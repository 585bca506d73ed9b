"""The flow-level network: active flows and queues of datagrams share links by a model; control packets only take their time.

A flow that is alone on its links, which is what RJMS traffic mostly is, never meets the solver (see sharing.py). Durations are
rounded up to the nanosecond. docs/guide/network.md has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from rsg_server.clock.timeline import Timeline
from rsg_server.network.datagram_queue import SMALL_BYTES, DatagramQueue, Left, Spare
from rsg_server.network.flow import Flow
from rsg_server.network.models import Model, raw
from rsg_server.network.sharing import DatagramPath, Fairness, Path, Sharing
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route
from rsg_server.platform.platform import Platform

CONTROL_PACKET_BYTES = 64
NS = 10**9


class Clock(Protocol):
    """What the network needs of time."""

    @property
    def now_ns(self) -> int: ...


class Network:
    """Opens flows and moves them on; `bytes_sent` counts all payload and packets."""

    def __init__(
        self,
        clock: Clock,
        timeline: Timeline,
        platform: Platform,
        model: Model | None = None,
        fairness: Fairness = Fairness.CONNECTION,
    ) -> None:
        self.model = model or raw()
        self._clock = clock
        self._timeline = timeline
        self._platform = platform
        self._sharing = Sharing(self.model, fairness, self._change_rate)
        self._paths: dict[tuple[str, str], Path] = {}
        self._moving: dict[int, Flow] = {}  # all active flows, also those over fat pipes alone
        self._queues: dict[tuple[str, str], DatagramQueue] = {}
        self._spare = Spare()
        self._last_arrival: dict[tuple[str, str], int] = {}
        self._next_flow = 1
        self._changed: dict[str, Link] = {}  # links that are not as the platform has them
        self.down: dict[str, None] = {}  # names of links that carry nothing
        self.bytes_sent = 0

    @property
    def now_ns(self) -> int:
        """The clock's."""
        return self._clock.now_ns

    @property
    def solves(self) -> int:
        """How often the solver was needed."""
        return self._sharing.solves

    @property
    def is_idle(self) -> bool:
        """Whether nothing is leaving anywhere."""
        return not self._moving and self._sharing.is_idle

    def open_flow(self, source: Host, destination: Host, deliver: Callable[[bytes], None]) -> Flow:
        """A new direction of a connection; `deliver` gets the bytes when they arrive."""
        path = self._path(source, destination)
        flow = Flow(self._next_flow, self._platform.route(source, destination), path, deliver, self)
        self._refresh(flow)
        self._next_flow += 1
        return flow

    def _path(self, source: Host, destination: Host) -> Path:
        pair = (source.name, destination.name)
        path = self._paths.get(pair)
        if path is None:
            path = Path(self._sharing, self.route(source, destination), self.route(destination, source))
            self._paths[pair] = path
        return path

    def message(
        self, source: Host, destination: Host, action: Callable[[], None], size_bytes: int = CONTROL_PACKET_BYTES
    ) -> None:
        """A packet on its own (SYN, RST, ICMP): latency plus its size over the bottleneck; order is kept per pair."""
        self._message(source, destination, action, size_bytes)

    def _message(
        self, source: Host, destination: Host, action: Callable[[], None], size_bytes: int, earliest_ns: int = 0
    ) -> int:
        """The same; when it arrives."""
        self.bytes_sent += size_bytes
        route = self.route(source, destination)
        moment = self._clock.now_ns + route.latency_ns + math.ceil(size_bytes * NS / route.bottleneck_bytes_per_s)
        pair = (source.name, destination.name)
        moment = max(moment, self._last_arrival.get(pair, 0), earliest_ns)
        self._last_arrival[pair] = moment
        self._timeline.add(moment, action)
        return moment

    def datagrams(self, source: Host, destination: Host) -> DatagramQueue:
        """What waits to leave one host for another."""
        pair = (source.name, destination.name)
        queue = self._queues.get(pair)
        if queue is None:
            path = DatagramPath(self._sharing, self.route(source, destination))
            queue = self._queues[pair] = DatagramQueue(self._next_flow, self._platform.route(source, destination), path, self)
            self._next_flow += 1
        return queue

    def datagram(self, source: Host, destination: Host, arrive: Callable[[], None], size_bytes: int, left: Left) -> None:
        """A datagram, for which there is room: `left` is told when it began to leave, once it has; `arrive` when it arrives.

        Those of a pair arrive in order. Small ones that are few do not make flows that they meet share anew. Within a host
        nothing queues.
        """
        if source is destination:
            left(self.now_ns)
            self._message(source, destination, arrive, size_bytes)
            return
        queue = self.datagrams(source, destination)
        if not queue.is_active and size_bytes <= SMALL_BYTES and self._sharing.is_busy(queue.path):
            shared = [link for link in self.route(source, destination).links if link.name in queue.path.shared]
            if self._spare.takes(shared, size_bytes, self.now_ns):
                left(self.now_ns)
                queue.arrival_ns = self._message(source, destination, arrive, size_bytes, queue.arrival_ns)
                return
        self.bytes_sent += size_bytes
        queue.put(size_bytes, arrive, left)

    # Links that change

    def link(self, name: str) -> Link:
        """A link as it is now. Raises KeyError for a name that no link has."""
        return self._changed.get(name) or self._platform.links[name]

    def set_link(
        self, name: str, bandwidth_bytes_per_s: float | None = None, latency_s: float | None = None, is_up: bool | None = None
    ) -> None:
        """Change what is given, from now on. What has left its sender already arrives as it would have; a link that is down
        keeps its rate, as whoever sends over it does not know (see rsg_server.sockets.wire, which loses what it carries)."""
        link = self.link(name)
        if is_up is not None:
            self.down.pop(name, None)
            self.down.update({} if is_up else {name: None})
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
        self._sharing.change_link(link)
        for flow in self._crossing(name):
            self._refresh(flow)
            if flow.variable < 0:
                self._change_rate(flow, flow.path.alone)

    def route(self, source: Host, destination: Host) -> Route:
        """The links from one host to another as they are now."""
        return self._present(self._platform.route(source, destination))

    def _present(self, route: Route) -> Route:
        if not self._changed:
            return route
        return Route(tuple(self._changed.get(link.name, link) for link in route.links), route.distance_s)

    def _refresh(self, flow: Flow) -> None:
        """Give a flow its links as they are now."""
        if self._changed:
            flow.route = self._present(flow.route)
            flow.links = flow.route.links

    def _crossing(self, name: str) -> list[Flow]:
        """Active flows over a link, in the order of their numbers."""
        moving = self._moving
        return [moving[number] for number in sorted(moving) if any(link.name == name for link in moving[number].links)]

    # What flows ask for

    def join(self, flow: Flow) -> None:
        """A flow has become active."""
        flow.updated_ns = self._clock.now_ns
        flow.rate = 0.0
        self._refresh(flow)
        self._moving[flow.number] = flow
        self._sharing.enter(flow)

    def leave(self, flow: Flow) -> None:
        """A flow has nothing more to send for now."""
        del self._moving[flow.number]
        self._sharing.leave(flow)

    def schedule(self, flow: Flow) -> None:
        """Set the moment at which the head of the flow's queue will have left, at its present rate."""
        flow.updated_ns = max(flow.updated_ns, self._clock.now_ns)
        if flow.departure is not None:
            flow.departure.cancel()
        if flow.remaining_bytes > 0 and flow.rate <= 0:
            flow.departure = None  # a link without bandwidth: nothing leaves until that changes
            return
        duration_ns = math.ceil(flow.remaining_bytes * NS / flow.rate) if flow.remaining_bytes > 0 else 0
        flow.departure = self._timeline.add(flow.updated_ns + duration_ns, flow.depart)

    def arrive_later(self, flow: Flow, action: Callable[[], None]) -> None:
        """The last byte of a segment has left: it arrives after the latency."""
        flow.arrival_ns = max(flow.arrival_ns, self._clock.now_ns + flow.route.latency_ns)  # no overtaking where it has shrunk
        self._timeline.add(flow.arrival_ns, action)

    def _change_rate(self, flow: Flow, rate: float) -> None:
        """Account for what has left at the rate so far, and go on with another one."""
        now = self._clock.now_ns
        flow.remaining_bytes = max(0.0, flow.remaining_bytes - flow.rate * (now - flow.updated_ns) / NS)
        flow.updated_ns = now
        flow.rate = rate
        self.schedule(flow)
