"""Computes what links draw: the idle watts, and in proportion to their traffic more, up to the busy watts at full bandwidth.

As in SimGrid's plugin link_energy, the load of a link is the rate of its flows divided by its bandwidth. The flow
model's bandwidth factor counts as full load (LV08: payload is 97 % of what a link carries). With cross-traffic, 5 % of
the traffic in the other direction is added for acknowledgements. So the energy of a link follows from its bytes alone.
Unlike in SimGrid, a link draws its idle watts during the latency of a flow, since nothing is carried then, and a link
that is down draws its `wattage_off`.
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
"""The bytes of acknowledgements on the way back, as a part of the data: SimGrid's network/crosstraffic."""


class Routes(Protocol):
    """The part of a network that is used here: the routes between hosts, and which links are `down`."""

    down: dict[str, None]

    def route(self, source: Host, destination: Host, /) -> Route: ...


@dataclass(slots=True)
class MeteredLink:
    """The energy of one link: a meter for its power without traffic, and the seconds at full bandwidth that its traffic
    has taken.
    """

    power: LinkPower
    meter: Meter
    busy_s: float = 0.0

    def joules(self, moment_ns: int) -> float:
        """Return the energy (J) from the start of the run to `moment_ns`.

        All traffic that was counted must have left by then.
        """
        return self.meter.joules(moment_ns) + (self.power.busy_w - self.power.idle_w) * self.busy_s


class LinkMeters:
    """The meters of all links that have watts. The object observes the traffic of sockets as a rsg_server.sockets.wire.Watcher.

    `factor` is the bandwidth factor of the flow model.
    """

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
        """Count bytes that left their source between two moments, for each link of the route; acknowledgements on the
        way back, too.
        """
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
        """Note that a link has gone up or down."""
        metered = self.links.get(name)
        if metered is not None:
            is_down = name in self._network.down
            metered.meter.change(self._now_ns(), metered.power.off_w if is_down else metered.power.idle_w)
