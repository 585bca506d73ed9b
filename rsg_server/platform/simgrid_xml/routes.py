"""Reads written routes: between hosts, between zones, and bypasses, which take precedence over the zones' own rules."""

from __future__ import annotations

from rsg_server.platform.explicit import RoutedZone, reversed_leg
from rsg_server.platform.link import Link
from rsg_server.platform.simgrid_xml.context import Context, Duplex
from rsg_server.platform.simgrid_xml.tree import Element
from rsg_server.platform.zone import Leg, NetPoint, Zone


def _links(context: Context, route: Element) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """Return the links of a written route, there and back."""
    there: list[Link] = []
    back: list[Link] = []
    for element in route.below("link_ctn"):
        context.check(element)
        name, direction = element.attributes["id"], element.attributes["direction"]
        found = context.links.get(name)
        if found is None:
            raise context.unknown(element, "link", name, context.links)
        link = found[0]
        if isinstance(link, Duplex):
            if direction == "NONE":
                text = f'link {name!r} is split duplex; add direction="UP" or direction="DOWN"'
                raise context.fail(element, f"{context.name_of(element)}: {text}")
            pair = (link.up, link.down) if direction == "UP" else (link.down, link.up)
        else:
            if direction != "NONE":
                text = f"link {name!r} has no directions; take the direction away, or give it sharing_policy SPLITDUPLEX"
                raise context.fail(element, f"{context.name_of(element)}: {text}")
            pair = (link, link)
        there.append(pair[0])
        back.append(pair[1])
    if not there:
        raise context.fail(route, f"{context.name_of(route)}: a route without links; add a <link_ctn>")
    return tuple(there), tuple(reversed(back))


def _ends(context: Context, element: Element, zone: Zone) -> tuple[NetPoint, NetPoint]:
    """Return the source and the destination of a written route. Raises PlatformError if they are no points of the zone."""
    ends = (context.point(element, "src"), context.point(element, "dst"))
    between_zones = "gw_src" in element.attributes
    for key, point in zip(("src", "dst"), ends, strict=True):
        if point.zone is not zone:
            there = f"in zone {point.zone.name}" if point.zone else "the outermost zone"
            text = f"{key}: {point.name!r} is {there}, not directly in {zone.name}; write the route there"
            raise context.fail(element, f"{context.name_of(element)}: {text}")
        if between_zones and point.inside is None:
            raise context.fail(element, f"{context.name_of(element)}: {key}: {point.name!r} is no zone; use <route>")
        if not between_zones and point.inside is not None:
            raise context.fail(element, f"{context.name_of(element)}: {key}: {point.name!r} is a zone; use <zoneRoute>")
    if between_zones and ends[0] is ends[1]:
        raise context.fail(element, f"{context.name_of(element)}: from a zone to itself; name another as dst")
    return ends


def _gateway(context: Context, element: Element, key: str, zone_point: NetPoint) -> NetPoint:
    """Return a gateway of a written route: a host or router inside of the zone to which the gateway leads."""
    gateway = context.point(element, key)
    inside = zone_point.inside
    if gateway.inside is not None:
        raise context.fail(element, f"{context.name_of(element)}: {key}: {gateway.name!r} is a zone; name a host or router")
    if inside is not None and not inside.contains(gateway):
        text = f"{key}: {gateway.name!r} is not inside zone {inside.name}; name one of its hosts or routers"
        raise context.fail(element, f"{context.name_of(element)}: {text}")
    return gateway


def _leg(context: Context, element: Element, ends: tuple[NetPoint, NetPoint]) -> tuple[Leg, Leg]:
    """Return the legs of a written route, there and back."""
    there, back = _links(context, element)
    leg = Leg(there)
    if "gw_src" in element.attributes:
        leg = Leg(there, _gateway(context, element, "gw_src", ends[0]), _gateway(context, element, "gw_dst", ends[1]))
    return leg, reversed_leg(leg, back)


def add_route(context: Context, element: Element, zone: Zone) -> None:
    """Add the route that a `<route>` or `<zoneRoute>` element describes."""
    if not isinstance(zone, RoutedZone):
        text = f"zone {zone.name} has its own routing and takes no routes; give it routing Full, Floyd or Dijkstra"
        raise context.fail(element, f"{context.name_of(element)}: {text}")
    ends = _ends(context, element, zone)
    there, back = _leg(context, element, ends)
    try:
        zone.add_route(*ends, there)
        if element.attributes["symmetrical"].upper() == "YES" and ends[0] is not ends[1]:
            zone.add_route(ends[1], ends[0], back)
    except ValueError as error:
        text = f'{error}; remove one, or write symmetrical="NO"'
        raise context.fail(element, f"{context.name_of(element)}: {text}") from None


def add_bypass(context: Context, element: Element, zone: Zone) -> None:
    """Add the bypass that a `<bypassRoute>` or `<bypassZoneRoute>` element describes, in one direction.

    The two ends of the bypass may lie in zones inside of `zone`.
    """
    ends = (context.point(element, "src"), context.point(element, "dst"))
    for key, point in zip(("src", "dst"), ends, strict=True):
        if not zone.contains(point):
            text = f"{key}: {point.name!r} is not inside zone {zone.name}; write the bypass where it is"
            raise context.fail(element, f"{context.name_of(element)}: {text}")
        if "gw_src" in element.attributes and point.inside is None:
            raise context.fail(element, f"{context.name_of(element)}: {key}: {point.name!r} is no zone; use <bypassRoute>")
    if ends in zone.bypasses:
        text = f"a bypass from {ends[0].name} to {ends[1].name} is there already; remove one"
        raise context.fail(element, f"{context.name_of(element)}: {text}")
    zone.bypasses[ends] = _leg(context, element, ends)[0]
