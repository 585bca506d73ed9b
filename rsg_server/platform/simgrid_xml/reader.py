"""Reads a SimGrid platform file and returns a Platform."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

from rsg_server.platform.explicit import EmptyZone, FullZone
from rsg_server.platform.platform import Platform, zoned_platform
from rsg_server.platform.profile import Changes, ProfileUse, parse_profile
from rsg_server.platform.shortest import DijkstraZone, FloydZone
from rsg_server.platform.simgrid_xml.clusters import add_cluster, fill_cluster_zone
from rsg_server.platform.simgrid_xml.context import VERSIONS, Context, Duplex
from rsg_server.platform.simgrid_xml.parts import add_host, add_link, add_peer, add_router
from rsg_server.platform.simgrid_xml.routes import add_bypass, add_route
from rsg_server.platform.simgrid_xml.tree import Element, parse
from rsg_server.platform.stars import StarZone, VivaldiZone
from rsg_server.platform.zone import Zone

ROUTINGS: dict[str, type[Zone]] = {
    "full": FullZone,
    "floyd": FloydZone,
    "dijkstra": DijkstraZone,
    "dijkstracache": DijkstraZone,
    "cluster": StarZone,
    "vivaldi": VivaldiZone,
    "none": EmptyZone,
}
"""The class of zone for each routing, by the routing's name in lower case, since SimGrid ignores case here."""
SHOWN_ROUTINGS = "Full, Floyd, Dijkstra, DijkstraCache, Cluster, Vivaldi, None"


def load_platform(path: Path | str, simgrid_compat: bool = False) -> Platform:
    """Return the platform of a SimGrid file (DTD 4 or 4.1). A PlatformError says file, line, what is wrong, how to correct it.

    Where SimGrid reads something outdated or wrong, this function reads it, too, and adds a warning to the platform's
    description.

    Hosts get the addresses 10.0.0.1 and on, in the order of the file. `simgrid_compat` repeats what SimGrid 3.32 does
    where it departs from its manual: docs/guide/platforms.md lists these cases.
    """
    context = Context(Path(path), simgrid_compat)
    document = parse(context.path, context.warn_line)
    if document.tag != "platform":
        raise context.fail(document, f"expected <platform version='4.1'>, got <{document.tag}>; give a SimGrid platform file")
    context.check(document)
    _check_version(context, document)
    roots: list[Zone] = []
    for element in document.children:
        context.check(element)
        if element.tag in ("zone", "AS", "cluster") and roots:
            raise context.fail(element, f"{context.name_of(element)}: a second outermost zone; put both into one <zone>")
        if element.tag in ("zone", "AS"):
            roots.append(_read_zone(context, element, None))
        elif element.tag == "cluster":
            roots.append(add_cluster(context, element, None))
        elif element.tag == "config":
            context.config |= context.properties(element)
        elif element.tag in ("trace", "trace_connect"):
            continue
        elif element.tag in ("cabinet", "peer"):
            raise context.fail(element, f"{context.name_of(element)}: stands outside of any zone; put it into a <zone>")
    if not roots:
        raise context.fail(document, "no <zone> and no <cluster>; add one")
    _connect_traces(context, document)
    if not context.hosts:
        raise context.fail(document, "no host; add a <host> or a <cluster>")
    return zoned_platform(roots[0], tuple(context.uses), MappingProxyType(context.config), context.warnings())


def _check_version(context: Context, document: Element) -> None:
    """Refuse versions other than 4 to 4.1. As in SimGrid, hundredths count: 4.10 is 4.1."""
    text = document.attributes["version"]
    try:
        version = round(float(text), 2)
    except (ValueError, OverflowError):
        version = -1.0
    if not VERSIONS[0] <= version <= VERSIONS[1]:
        hint = "update it with SimGrid's simgrid_update_xml"
        raise context.fail(document, f"<platform>: version: expected 4.1 or 4, got {text[:60]!r}; {hint}")
    if version < VERSIONS[1]:
        context.warn(document, "version: a file of DTD 4, read as one of 4.1; update it with SimGrid's simgrid_update_xml")


Reader = Callable[[Context, Element, Zone], object]
READERS: dict[str, Reader] = {
    "host": add_host,
    "router": add_router,
    "link": add_link,
    "peer": add_peer,
    "cluster": add_cluster,
    "route": add_route,
    "zoneRoute": add_route,
    "ASroute": add_route,
    "bypassRoute": add_bypass,
    "bypassZoneRoute": add_bypass,
    "bypassASroute": add_bypass,
}
LATER = ("prop", "trace", "trace_connect")
OF_CLUSTERS = ("backbone", "host_link", "cabinet")


def _read_zone(context: Context, element: Element, parent: Zone | None) -> Zone:
    """Return a zone with all its content, read in the order of the file.

    As in SimGrid, a name must be defined before its use.
    """
    routing = element.attributes["routing"]
    kind = ROUTINGS.get(routing.lower())
    if kind is None:
        text = "Wifi is not modelled" if routing.lower() == "wifi" else f"got {routing[:60]!r}"
        raise context.fail(element, f"{context.name_of(element)}: routing: expected one of {SHOWN_ROUTINGS}; {text}")
    zone = kind(element.attributes["id"], parent, context.at(element), context.simgrid_compat)
    context.add_point(element, zone.point)
    context.properties(element)
    for child in element.children:
        if child.tag in LATER:
            continue
        if child.tag in OF_CLUSTERS:
            if not isinstance(zone, StarZone):
                text = f'<{child.tag}> needs a zone with routing "Cluster"; {zone.name} has {routing}'
                raise context.fail(child, text)
            continue
        context.check(child)
        if child.tag in ("zone", "AS"):
            _read_zone(context, child, zone)
        else:
            READERS[child.tag](context, child, zone)
    if isinstance(zone, StarZone):
        fill_cluster_zone(context, element, zone)
    return zone


KINDS = {
    "HOST_AVAIL": Changes.HOST_STATE,
    "SPEED": Changes.SPEED,
    "LINK_AVAIL": Changes.LINK_STATE,
    "BANDWIDTH": Changes.BANDWIDTH,
    "LATENCY": Changes.LATENCY,
}
OF_HOSTS = (Changes.HOST_STATE, Changes.SPEED)


def _everywhere(element: Element, tag: str) -> list[Element]:
    found = [element] if element.tag == tag else []
    return found + [other for child in element.children for other in _everywhere(child, tag)]


def _connect_traces(context: Context, document: Element) -> None:
    """Read `<trace>` and `<trace_connect>` elements, wherever they are in the file, after the hosts and links that they
    name.
    """
    for element in _everywhere(document, "trace"):
        context.check(element)
        name = element.attributes["id"]
        if name in context.profiles:
            raise context.fail(element, f"{context.name_of(element)}: a trace of this name is there already; choose another")
        period = context.value(element, "periodicity", float)
        file = element.attributes["file"]
        if file:
            context.profiles[name] = context.read_profile(element, context.path.parent / file)
            continue
        try:
            context.profiles[name] = parse_profile(name, element.text, period)
        except ValueError as error:
            raise context.fail(element, f"{context.name_of(element)}: {error}") from None
    for element in _everywhere(document, "trace_connect"):
        context.check(element)
        _connect(context, element)


def _connect(context: Context, element: Element) -> None:
    trace, name = element.attributes["trace"], element.attributes["element"]
    changes = KINDS[element.attributes["kind"]]
    if trace not in context.profiles:
        raise context.unknown(element, "trace", trace, context.profiles)
    names = [name]
    if changes in OF_HOSTS:
        hosts = [key for key, (point, _) in context.points.items() if point.host]
        if name not in hosts:
            raise context.unknown(element, "host", name, hosts)
    else:
        if name not in context.links:
            raise context.unknown(element, "link", name, context.links)
        link = context.links[name][0]
        names = [link.up.name, link.down.name] if isinstance(link, Duplex) else names
    context.uses += [ProfileUse(changes, key, context.profiles[trace]) for key in names]
