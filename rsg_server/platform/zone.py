"""Zones within zones, and the routes through them, by SimGrid's rules (NetZoneImpl.cpp of SimGrid 3.32).

A zone contains points: hosts, routers and smaller zones. A zone knows the way between any two of its own points
(`local_route`). If these points are zones, the way leads from a gateway inside one to a gateway inside the other. A
route between two hosts begins with the way in the smallest zone around both hosts, and is completed inside of the
smaller zones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rsg_server.platform.errors import NoRouteError
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route, SharingPolicy

LINK_NODE = "link "
"""The prefix of the names of those nodes in drawings that stand for links; the link's name follows."""
LOOPBACK = Link("__loopback__", 1e10, 0.0, SharingPolicy.FATPIPE)
"""The link from a host to itself if the platform gives none, with SimGrid's values (network/loopback-bw, -lat)."""


@dataclass(frozen=True, slots=True, eq=False)
class NetPoint:
    """A point of a zone: a host, a router, or a smaller zone. `index` is its place among the points of `zone`."""

    name: str
    zone: Zone | None
    index: int
    host: Host | None = None
    inside: Zone | None = None
    coordinates: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Leg:
    """The way from one point of a zone to another: its links.

    Between two zones, also the gateways at which it begins and ends.
    """

    links: tuple[Link, ...]
    leaves: NetPoint | None = None
    enters: NetPoint | None = None
    distance_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a drawing: the names of two hosts, routers or switches, and the link or links (up, down) between them."""

    one: str
    other: str
    links: tuple[Link, ...]


class Zone(ABC):
    """A set of points with one kind of routing. A zone is filled while a platform is read, and does not change later."""

    def __init__(self, name: str, parent: Zone | None = None, where: str = "", simgrid_compat: bool = False) -> None:
        self.name = name
        self.parent = parent
        self.where = where
        self.simgrid_compat = simgrid_compat
        self.points: list[NetPoint] = []
        self.children: list[Zone] = []
        self.links: list[Link] = []
        self.bypasses: dict[tuple[NetPoint, NetPoint], Leg] = {}
        self.point = NetPoint(name, parent, len(parent.points) if parent else 0, None, self)
        if parent is not None:
            parent.points.append(self.point)
            parent.children.append(self)

    def add_host(self, host: Host) -> NetPoint:
        """Add a host to the zone, and return its point, which is the zone's last."""
        point = NetPoint(host.name, self, len(self.points), host, None, host.coordinates)
        self.points.append(point)
        return point

    def add_router(self, name: str, coordinates: tuple[float, float, float] | None = None) -> NetPoint:
        """Add a router, which is a point without a host, and return it."""
        point = NetPoint(name, self, len(self.points), None, None, coordinates)
        self.points.append(point)
        return point

    @abstractmethod
    def local_route(self, source: NetPoint, destination: NetPoint) -> Leg:
        """Return the leg between two points of this zone, or from a host to itself. Raises NoRouteError."""

    def edges(self) -> Iterator[Edge]:
        """Yield the edges of a drawing of this zone, without the zones inside."""
        return iter(())

    def switches(self) -> Iterator[str]:
        """Yield the names of those ends of edges that are no points: the switches of a topology."""
        return iter(())

    def links_at(self, node: str) -> tuple[Link, ...]:
        """Return the links that a switch or other node of a drawing stands for: a backbone, or a link that many routes use."""
        return ()

    def all_links(self) -> Iterator[Link]:
        """Yield all links of this zone, without those of the zones inside."""
        return iter(self.links)

    def family(self) -> Iterator[Zone]:
        """Yield this zone and all zones inside of it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.family()

    def contains(self, point: NetPoint) -> bool:
        """Return whether a point is in this zone, or in a zone inside of it."""
        zone = point.zone
        while zone is not None and zone is not self:
            zone = zone.parent
        return zone is self

    def no_route(self, source: NetPoint, destination: NetPoint) -> NoRouteError:
        """Return the error that there is no route between two points."""
        at = f"{self.where}: " if self.where else ""
        kind = "zoneRoute" if source.inside or destination.inside else "route"
        text = f"{at}no route from {source.name} to {destination.name} in zone {self.name}; add a <{kind}> between them"
        return NoRouteError(text)


@dataclass(slots=True)
class _Way:
    """A route that is being composed: the links so far, and the distance."""

    links: list[Link] = field(default_factory=list)
    distance_s: float = 0.0

    def go(self, leg: Leg) -> None:
        self.links += leg.links
        self.distance_s += leg.distance_s


def find_route(source: NetPoint, destination: NetPoint) -> Route:
    """Return the links from one host or router to another. Raises NoRouteError."""
    way = _Way()
    _extend(way, source, destination)
    return Route(tuple(way.links), way.distance_s)


def _zones_around(point: NetPoint) -> list[Zone]:
    """Return the zones around a point, the innermost first."""
    zones = []
    zone = point.zone
    while zone is not None:
        zones.append(zone)
        zone = zone.parent
    return zones


def _extend(way: _Way, source: NetPoint, destination: NetPoint) -> None:
    """Append the links from source to destination to a route that is being composed."""
    ups, downs = _zones_around(source), _zones_around(destination)
    common = None
    while ups and downs and ups[-1] is downs[-1]:
        common = ups.pop()
        downs.pop()
    if common is None:
        raise NoRouteError(f"no route from {source.name} to {destination.name}: they are in no common zone")
    if common.bypasses and _take_bypass(way, common, source, destination, ups, downs):
        return
    if not ups and not downs:
        way.go(common.local_route(source, destination))
        return
    if not ups or not downs:
        raise common.no_route(ups[-1].point if ups else source, downs[-1].point if downs else destination)
    leg = common.local_route(ups[-1].point, downs[-1].point)
    if leg.leaves is None or leg.enters is None:
        raise common.no_route(ups[-1].point, downs[-1].point)
    _take(way, leg, source, destination)


def _take(way: _Way, leg: Leg, source: NetPoint, destination: NetPoint, loops: bool = False) -> None:
    """Append a leg to a route: the links to its first gateway, its own, and those from its second gateway.

    With `loops`, the loopback is appended if a gateway is the source or destination itself.
    """
    if leg.leaves is not None and (loops or leg.leaves is not source):
        _extend(way, source, leg.leaves)
    way.go(leg)
    if leg.enters is not None and (loops or leg.enters is not destination):
        _extend(way, leg.enters, destination)


def _take_bypass(
    way: _Way, common: Zone, source: NetPoint, destination: NetPoint, ups: Sequence[Zone], downs: Sequence[Zone]
) -> bool:
    """Use a bypass of the common zone that joins the ends, or zones around them, the innermost first; return False if
    there is none.
    """
    if not ups and not downs:
        leg = common.bypasses.get((source, destination))
        if leg is not None:
            way.go(leg)
        return leg is not None
    ups, downs = ups or [common], downs or [common]
    for depth in range(max(len(ups), len(downs))):
        pairs = [pair for other in range(depth) for pair in ((other, depth), (depth, other))]
        for up, down in [*pairs, (depth, depth)]:
            if up < len(ups) and down < len(downs):
                leg = common.bypasses.get((ups[up].point, downs[down].point))
                if leg is not None:
                    _take(way, leg, source, destination, common.simgrid_compat)  # SimGrid adds the loopbacks of gateways here
                    return True
    return False
