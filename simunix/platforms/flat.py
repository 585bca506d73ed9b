"""Convert a platform to a flat form: hosts, switches, links and routes only. Every platform can be converted to this
form.
"""

from __future__ import annotations

from dataclasses import dataclass

from rsg_server.errors import SimunixError
from rsg_server.platform.errors import NoRouteError
from rsg_server.platform.explicit import FullZone, RoutedZone
from rsg_server.platform.link import Link
from rsg_server.platform.platform import Platform
from rsg_server.platform.shortest import FloydZone
from rsg_server.platform.stars import Spoke, StarZone
from rsg_server.platform.zone import LOOPBACK, Zone

PAIRS_MAX_HOSTS = 64


@dataclass(frozen=True, slots=True)
class FlatRoute:
    """A route in one direction."""

    source: str
    destination: str
    links: tuple[Link, ...]
    distance_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Flat:
    """A platform in the flat form (hosts, switches, links and routes only). A route either leads from host to host
    (`full`), or is a piece that is joined with others.
    """

    routing: str
    switches: tuple[str, ...]
    links: tuple[Link, ...]
    routes: tuple[FlatRoute, ...]


def inner_zone(platform: Platform) -> Zone:
    """Return the zone that contains all hosts: the outermost zone, or the only zone inside it. Raises SimunixError for
    a platform without zones.
    """
    zone = platform.description.root
    if zone is None:
        raise SimunixError("this platform has no zones to convert")
    while len(zone.children) == 1 and len(zone.points) == 1:
        zone = zone.children[0]
    return zone


def flatten(platform: Platform) -> Flat:
    """Convert a platform to the flat form: by the rule of its only zone or, with several zones, pair of hosts by pair
    of hosts.

    Raises SimunixError if there would be too many routes.
    """
    zone = inner_zone(platform)
    direct = {point.name for point in zone.points} >= {host.name for host in platform.hosts} and not zone.children
    if isinstance(zone, RoutedZone) and direct:
        return _of_routes(zone)
    if type(zone) is StarZone and direct:
        return _of_star(zone)
    return _of_pairs(platform)


def _of_routes(zone: RoutedZone) -> Flat:
    routing = "full" if isinstance(zone, FullZone) else "floyd" if isinstance(zone, FloydZone) else "dijkstra"
    names = [point.name for point in zone.points]
    routes = [FlatRoute(names[a], names[b], leg.links, leg.distance_s) for (a, b), leg in zone.legs.items()]
    switches = tuple(point.name for point in zone.points if point.host is None)
    return Flat(routing, switches, tuple(zone.links), tuple(routes))


def _of_star(zone: StarZone) -> Flat:
    """Convert a star with a backbone: two switches with the backbone between them, or one switch without a backbone.
    With two switches, hosts send to the switch `switch-up` and receive from the switch `switch-down`.
    """
    shared = zone.links_at(zone.name)
    switches = ("switch-up", "switch-down") if shared else ("switch",)
    routes = [FlatRoute(switches[0], switches[-1], shared)] if shared else []
    for point in zone.points:
        spoke = zone.spokes.get(point.index, Spoke())
        up, down = (tuple(link for link in links if link not in shared) for links in (spoke.up, spoke.down))
        if point.host is None or not up or not down:
            continue
        routes += [FlatRoute(point.name, switches[0], up), FlatRoute(switches[-1], point.name, down)]
        if spoke.loopback:
            routes.append(FlatRoute(point.name, point.name, (spoke.loopback,)))
    return Flat("dijkstra", switches, tuple(zone.links), tuple(routes))


def _of_pairs(platform: Platform) -> Flat:
    hosts = platform.hosts
    if len(hosts) > PAIRS_MAX_HOSTS:
        text = f"zones within zones of {len(hosts)} hosts (more than {PAIRS_MAX_HOSTS}) would need a route for each pair"
        raise SimunixError(f"{text}; keep the file and name it in the scenario: 'network: {{platform: FILE.xml}}'")
    routes = []
    for one in hosts:
        for other in hosts:
            try:
                route = platform.route(one, other)
            except NoRouteError:
                continue
            if route.links != (LOOPBACK,):
                routes.append(FlatRoute(one.name, other.name, route.links, route.distance_s))
    used = dict.fromkeys(link for route in routes for link in route.links)
    return Flat("full", (), tuple(used), tuple(routes))
