"""What links draw: idle, and in proportion to what they carry, up to the busy watts at full bandwidth.

As in SimGrid's plugin link_energy, the load of a link is the rate of its flows by its bandwidth, where the flow model's
bandwidth factor counts as full (LV08: payload is 97 % of what a link carries), and with cross-traffic 5 % of what goes the
other way. So the energy of a link follows from its bytes alone. Unlike in SimGrid, the latency of a flow counts as idle, since
nothing is carried then, and a link that is down draws its `wattage_off`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from rsg_server.energy.meter import Meter
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route
from rsg_server.platform.power import LinkPower

ACKNOWLEDGED = 0.05
"""What acknowledgements take of the way back, as a part of the data; SimGrid's network/crosstraffic."""


class Routes(Protocol):
    """A network, as far as links are looked up and asked whether they are up."""

    down: dict[str, None]

    def route(self, source: Host, destination: Host, /) -> Route: ...


@dataclass(slots=True)
class MeteredLink:
    """A link without traffic as a meter, and how many seconds at full bandwidth all its traffic has taken."""

    power: LinkPower
    meter: Meter
    busy_s: float = 0.0

    def joules(self, moment_ns: int) -> float:
        """The energy from the start of the run to a moment, by which all that was counted has left."""
        return self.meter.joules(moment_ns) + (self.power.busy_w - self.power.idle_w) * self.busy_s


class LinkMeters:
    """The meters of all links that have watts (see rsg_server.sockets.wire.Watcher). `factor`: the flow model's."""

    def __init__(
        self,
        now_ns: Callable[[], int],
        network: Routes,
        links: Iterable[Link],
        factor: float = 1.0,
        cross_traffic: bool = False,
    ) -> None:
        self._now_ns = now_ns
        self._network = network
        self._factor = factor
        self._cross_traffic = cross_traffic
        self.links = {link.name: MeteredLink(link.power, Meter(link.power.idle_w)) for link in links if link.power is not None}

    def moved(self, source: Host, destination: Host, begin_ns: int, end_ns: int, size_bytes: int) -> None:
        """Count bytes that left their source between two moments, for each link of the route, and of the way back."""
        if source is destination:
            return
        self._count(self._network.route(source, destination).links, size_bytes / self._factor)
        if self._cross_traffic:
            self._count(self._network.route(destination, source).links, size_bytes / self._factor * ACKNOWLEDGED)

    def _count(self, links: Iterable[Link], size_bytes: float) -> None:
        for link in links:
            metered = self.links.get(link.name)
            if metered is not None:
                metered.busy_s += size_bytes / link.bandwidth_bytes_per_s

    def changed(self, name: str) -> None:
        """A link has gone up or down."""
        metered = self.links.get(name)
        if metered is not None:
            is_down = name in self._network.down
            metered.meter.change(self._now_ns(), metered.power.off_w if is_down else metered.power.idle_w)
