"""Zones around one switch: SimGrid's Cluster (flat), and Vivaldi, where coordinates add latency."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, SharingPolicy
from rsg_server.platform.topology import ClusterLinks
from rsg_server.platform.zone import LOOPBACK, Edge, Leg, NetPoint, Zone

MS = 1e-3


@dataclass(slots=True)
class Spoke:
    """The links between a point of a zone and the zone's switch, up and down; `gateway` is set if the point is a zone."""

    up: tuple[Link, ...] = ()
    down: tuple[Link, ...] = ()
    loopback: Link | None = None
    gateway: NetPoint | None = None


def without_repeats(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Return the links without repetitions: a backbone or a half-duplex link is both on the way up and on the way down."""
    return tuple(dict.fromkeys(links))


class StarZone(Zone):
    """A zone whose routes go up to a switch and down to the other point. A point without a spoke is at the switch itself."""

    def __init__(self, name: str, parent: Zone | None = None, where: str = "", simgrid_compat: bool = False) -> None:
        super().__init__(name, parent, where, simgrid_compat)
        self.spokes: dict[int, Spoke] = {}

    def spoke(self, point: NetPoint) -> Spoke:
        """Return the spoke of a point, which the caller then fills in."""
        return self.spokes.setdefault(point.index, Spoke())

    def local_route(self, source: NetPoint, destination: NetPoint) -> Leg:
        """Return the links up to the switch and down.

        In SimGrid, a host without its own loopback reaches itself over these, too.
        """
        up, down = self.spokes.get(source.index, Spoke()), self.spokes.get(destination.index, Spoke())
        if source is destination and up.loopback is not None:
            return Leg((up.loopback,))
        if source is destination and not self.simgrid_compat:
            return Leg((LOOPBACK,))
        return Leg(without_repeats(up.up + down.down), up.gateway, down.gateway)

    def switches(self) -> Iterator[str]:
        """Yield the name of the switch, which is the zone's name."""
        yield self.name

    def edges(self) -> Iterator[Edge]:
        """Yield as edges of a drawing the links between each point and the switch, without those that several points share."""
        shared = self._shared()
        for point in self.points:
            spoke = self.spokes.get(point.index, Spoke())
            end = (self._gateway(point) or point).name
            own = dict.fromkeys(link for link in spoke.up + spoke.down if link not in shared)
            yield Edge(end, self.name, tuple(own))

    def _gateway(self, point: NetPoint) -> NetPoint | None:
        """Return the gateway of a point that is a zone; None for a host or router."""
        return self.spokes.get(point.index, Spoke()).gateway

    def links_at(self, node: str) -> tuple[Link, ...]:
        """Return the links that the switch of a drawing stands for: those that several points share, such as a backbone."""
        return tuple(self._shared()) if node == self.name else ()

    def _shared(self) -> dict[Link, None]:
        """Return the links that are in several spokes, as keys."""
        uses = Counter(link for spoke in self.spokes.values() for link in {*spoke.up, *spoke.down})
        return {link: None for link in self.links if uses[link] > 1}


class VivaldiZone(StarZone):
    """A zone of hosts with access links and coordinates in milliseconds: distance and both heights add to the latency."""

    def local_route(self, source: NetPoint, destination: NetPoint) -> Leg:
        """Return the links up and down as in a star, and the distance.

        By SimGrid's rule, a zone ZONE is at its router `router_ZONE`.
        """
        gateways = (self._gateway(source), self._gateway(destination))
        leg = super().local_route(source, destination)
        if source is destination and not self.simgrid_compat:
            return leg
        a, b = (self._coordinates(point, gate) for point, gate in zip((source, destination), gateways, strict=True))
        distance_s = (math.hypot(a[0] - b[0], a[1] - b[1]) + abs(a[2]) + abs(b[2])) * MS
        return Leg(leg.links, gateways[0] or leg.leaves, gateways[1] or leg.enters, distance_s)

    def _gateway(self, point: NetPoint) -> NetPoint | None:
        if point.inside is None:
            return None
        spoke = self.spokes.get(point.index, Spoke())
        if spoke.gateway is None:
            found = [p for zone in point.inside.family() for p in zone.points if p.name == f"router_{point.name}"]
            if not found:
                raise self.no_route(point, point)
            self.spoke(point).gateway = spoke.gateway = found[0]
        return spoke.gateway

    def _coordinates(self, point: NetPoint, gateway: NetPoint | None) -> tuple[float, float, float]:
        found = point.coordinates or (gateway.coordinates if gateway else None)
        return found or (0.0, 0.0, 0.0)


def fill_cluster(
    zone: StarZone, hosts: Sequence[Host], names: Sequence[str], links: ClusterLinks, backbone: Link | None = None
) -> None:
    """Fill a zone as a flat cluster of SimGrid: each host's own link, then the backbone; `names` are those of the
    hosts' links.
    """
    shared = (backbone,) if backbone else ()
    zone.links += shared
    for host, name in zip(hosts, names, strict=True):
        spoke = zone.spoke(zone.add_host(host))
        up, down = links.cables.make(name)
        if links.loopback is not None:
            kind = links.loopback
            spoke.loopback = Link(f"{name}_loopback", kind.bandwidth_bytes_per_s, kind.latency_s, SharingPolicy.FATPIPE)
            zone.links.append(spoke.loopback)
        limiter: tuple[Link, ...] = ()
        if links.limiter_bytes_per_s is not None:
            limiter = (Link(f"{name}_limiter", links.limiter_bytes_per_s, 0.0),)
        spoke.up, spoke.down = (*limiter, up, *shared), (*shared, down, *limiter)
        zone.links += dict.fromkeys((*limiter, up, down))
