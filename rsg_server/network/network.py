"""The flow-level network: active flows share links max-min fairly; control packets and datagrams only take their time.

A flow that is alone on its links, which is what RJMS traffic mostly is, never meets the solver. Durations are rounded up to the
nanosecond.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from rsg_server.network.flow import Flow
from rsg_server.network.sharing import share
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route, SharingPolicy
from rsg_server.platform.platform import Platform
from rsg_server.timeline import Timeline

MODEL = "fair"
"""Name of this model in results: constant latency, max-min fair bandwidth, no TCP factors."""
CONTROL_PACKET_BYTES = 64
NS = 10**9


class Clock(Protocol):
    """What the network needs of time."""

    @property
    def now_ns(self) -> int: ...


class Network:
    """Opens flows and moves them on; `solves` counts how often the solver was needed, `bytes_sent` all payload and packets."""

    def __init__(self, clock: Clock, timeline: Timeline, platform: Platform) -> None:
        self._clock = clock
        self._timeline = timeline
        self._platform = platform
        self._active: dict[str, dict[int, Flow]] = {}  # shared link -> active flows by number
        self._moving: dict[int, Flow] = {}  # all active flows, also those over fat pipes alone
        self._last_arrival: dict[tuple[str, str], int] = {}
        self._next_flow = 1
        self._changed: dict[str, Link] = {}  # links that are not as the platform has them
        self.down: dict[str, None] = {}  # names of links that carry nothing
        self.solves = 0
        self.bytes_sent = 0

    def open_flow(self, source: Host, destination: Host, deliver: Callable[[bytes], None]) -> Flow:
        """A new direction of a connection; `deliver` gets the bytes when they arrive."""
        flow = Flow(self._next_flow, self._platform.route(source, destination), deliver, self)
        self._refresh(flow)
        self._next_flow += 1
        return flow

    def message(
        self, source: Host, destination: Host, action: Callable[[], None], size_bytes: int = CONTROL_PACKET_BYTES
    ) -> None:
        """A packet on its own (SYN, RST, datagram): latency plus its size over the bottleneck; order is kept per pair."""
        self.bytes_sent += size_bytes
        route = self.route(source, destination)
        moment = self._clock.now_ns + route.latency_ns + math.ceil(size_bytes * NS / route.bottleneck_bytes_per_s)
        pair = (source.name, destination.name)
        moment = max(moment, self._last_arrival.get(pair, 0))
        self._last_arrival[pair] = moment
        self._timeline.add(moment, action)

    # Links that change

    def link(self, name: str) -> Link:
        """A link as it is now. Raises KeyError for a name that no link has."""
        return self._changed.get(name) or self._platform.links[name]

    def set_link(
        self, name: str, bandwidth_bytes_per_s: float | None = None, latency_s: float | None = None, is_up: bool | None = None
    ) -> None:
        """Change what is given, from now on. What has left its sender already arrives as it would have; a link that is down
        keeps its rate, as whoever sends over it does not know (see rsg_server.wire, which loses what it carries)."""
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
        flows = self._crossing(name)
        for flow in flows:
            self._settle(flow)
            self._refresh(flow)
        if flows:
            self._share_again(flows)

    def route(self, source: Host, destination: Host) -> Route:
        """The links from one host to another as they are now."""
        return self._present(self._platform.route(source, destination))

    def _present(self, route: Route) -> Route:
        if not self._changed:
            return route
        return Route(tuple(self._changed.get(link.name, link) for link in route.links))

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
        self._refresh(flow)
        alone = True
        self._moving[flow.number] = flow
        for link in flow.links:
            if link.policy is SharingPolicy.SHARED:
                flows = self._active.setdefault(link.name, {})
                alone = alone and not flows
                flows[flow.number] = flow
        if alone:
            flow.rate = flow.route.bottleneck_bytes_per_s
            self.schedule(flow)
        else:
            self._share_again([flow])

    def leave(self, flow: Flow) -> None:
        """A flow has nothing more to send for now."""
        neighbours: dict[int, Flow] = {}
        self._moving.pop(flow.number, None)
        for link in flow.links:
            flows = self._active.get(link.name)
            if flows is not None and flows.pop(flow.number, None) is not None:
                neighbours.update(flows)
        if neighbours:
            self._share_again([neighbours[number] for number in sorted(neighbours)])

    def schedule(self, flow: Flow) -> None:
        """Set the moment at which the head of the flow's queue will have left, at its present rate."""
        flow.updated_ns = max(flow.updated_ns, self._clock.now_ns)
        if flow.departure is not None:
            flow.departure.cancel()
        duration_ns = math.ceil(flow.remaining_bytes * NS / flow.rate) if flow.remaining_bytes > 0 else 0
        flow.departure = self._timeline.add(flow.updated_ns + duration_ns, flow.depart)

    def arrive_later(self, flow: Flow, action: Callable[[], None]) -> None:
        """The last byte of a segment has left: it arrives after the latency."""
        flow.arrival_ns = max(flow.arrival_ns, self._clock.now_ns + flow.route.latency_ns)  # no overtaking where it has shrunk
        self._timeline.add(flow.arrival_ns, action)

    # Sharing

    def _share_again(self, start: list[Flow]) -> None:
        """New rates for all flows that are connected to these through shared links."""
        self.solves += 1
        flows = self._component(start)
        rates = share([flow.links for flow in flows])
        for flow, rate in zip(flows, rates, strict=True):
            self._settle(flow)
            flow.rate = rate
            self.schedule(flow)

    def _settle(self, flow: Flow) -> None:
        """Account for what has left at the rate so far."""
        now = self._clock.now_ns
        flow.remaining_bytes = max(0.0, flow.remaining_bytes - flow.rate * (now - flow.updated_ns) / NS)
        flow.updated_ns = now

    def _component(self, start: list[Flow]) -> list[Flow]:
        """Active flows that share a link with these, directly or through others, in the order of their numbers."""
        found: dict[int, Flow] = {flow.number: flow for flow in start}
        seen: set[str] = set()
        todo = list(start)
        while todo:
            for link in todo.pop().links:
                if link.name in seen or link.policy is not SharingPolicy.SHARED:
                    continue
                seen.add(link.name)
                for number, flow in self._active.get(link.name, {}).items():
                    if number not in found:
                        found[number] = flow
                        todo.append(flow)
        return [found[number] for number in sorted(found)]
