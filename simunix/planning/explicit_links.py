"""The keys `network.links` and `network.routes` of a scenario, which connect hosts and switches link by link."""

from __future__ import annotations

from collections.abc import Sequence

from rsg_server.errors import SimunixError
from rsg_server.platform.explicit import FullZone, RoutedZone, reversed_leg
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, SharingPolicy
from rsg_server.platform.shortest import DijkstraZone, FloydZone
from rsg_server.platform.zone import Leg, NetPoint
from simunix.scenario.network_section import LinkSection, NetworkSection, RouteSection
from simunix.scenario.power_section import power_of_link

ROUTINGS: dict[str, type[RoutedZone]] = {"dijkstra": DijkstraZone, "floyd": FloydZone, "full": FullZone}
Pair = tuple[Link, Link]  # the link upwards and the link downwards; equal if both directions share one link


def linked_zone(network: NetworkSection, hosts: Sequence[Host]) -> RoutedZone:
    """Make the zone that links and routes describe. The text of a SimunixError begins with the wrong link or route."""
    zone = ROUTINGS[network.routing]("network", None, "", network.simgrid_compat)
    points: dict[str, NetPoint] = {host.name: zone.add_host(host) for host in hosts}
    for name in network.switches:
        if name in points:
            raise SimunixError(f"network.switches: {name!r} is a host or switch already; choose another name")
        points[name] = zone.add_router(name)
    links: dict[str, Pair] = {}
    for index, section in enumerate(network.links or []):
        _add_link(zone, points, links, section, f"network.links[{index}]")
    for index, route in enumerate(network.routes):
        _add_route(zone, points, links, route, f"network.routes[{index}]")
    return zone


def _make(section: LinkSection, name: str) -> Pair:
    latency_s, power = section.latency, power_of_link(section.wattage_range, section.wattage_off)
    if section.policy == "split-duplex":
        up, down = (Link(f"{name}_{way}", section.bandwidth, latency_s, power=power) for way in ("UP", "DOWN"))
        return up, down
    link = Link(name, section.bandwidth, latency_s, SharingPolicy(section.policy), power)
    return link, link


def _point(points: dict[str, NetPoint], name: str, key: str) -> NetPoint:
    if name not in points:
        raise SimunixError(f"{key}: {name!r} is no host and no switch; known: {', '.join(list(points)[:10])}")
    return points[name]


def _add_link(zone: RoutedZone, points: dict[str, NetPoint], links: dict[str, Pair], section: LinkSection, key: str) -> None:
    ends = section.between or [("",), ("",)]
    for one in ends[0]:
        name = section.name if len(ends[0]) == 1 else f"{section.name}-{one}"
        if name in links:
            raise SimunixError(f"{key}.name: a link {name!r} is there already; choose another name")
        up, down = links[name] = _make(section, name)
        zone.links += dict.fromkeys((up, down))
        if section.between is not None:
            source = _point(points, one, f"{key}.between")
            destination = _point(points, ends[1][0], f"{key}.between")
            if source is destination:
                raise SimunixError(f"{key}.between: {one!r} with itself; name another end")
            _join(zone, source, destination, Leg((up,)), (down,), f"{key}.between")


def _join(zone: RoutedZone, source: NetPoint, destination: NetPoint, leg: Leg, back: tuple[Link, ...], key: str) -> None:
    try:
        zone.add_route(source, destination, leg)
        if back:
            zone.add_route(destination, source, reversed_leg(leg, back))
    except ValueError as error:
        raise SimunixError(f"{key}: {error}; remove one") from None


def _add_route(zone: RoutedZone, points: dict[str, NetPoint], links: dict[str, Pair], route: RouteSection, key: str) -> None:
    there: list[Link] = []
    back: list[Link] = []
    for text in route.links:
        name, colon, direction = text.partition(":")
        if name not in links:
            raise SimunixError(f"{key}.links: no link {name!r}; known: {', '.join(list(links)[:10])}")
        pair = links[name]
        if (pair[0] is not pair[1]) != (direction in ("up", "down")) or (colon and not direction):
            wanted = f"'{name}:up' or '{name}:down'" if pair[0] is not pair[1] else f"'{name}'"
            raise SimunixError(f"{key}.links: expected {wanted}, got {text!r}")
        there.append(pair[direction == "down"])
        back.append(pair[direction != "down"])
    ends = (_point(points, route.from_, f"{key}.from"), _point(points, route.to, f"{key}.to"))
    _join(zone, *ends, Leg(tuple(there), distance_s=route.distance), tuple(reversed(back)) if route.symmetrical else (), key)
