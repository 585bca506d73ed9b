"""Reads `<cluster>` in all its shapes, and zones with the routing "Cluster": cabinets, host_links and a backbone."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from rsg_server.platform import units
from rsg_server.platform.dragonfly import DragonflyShape, DragonflyZone
from rsg_server.platform.fat_tree import FatTreeShape, FatTreeZone
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, SharingPolicy
from rsg_server.platform.simgrid_xml.context import HOSTS_MAX, Context, Duplex
from rsg_server.platform.simgrid_xml.parts import NO_SPEED, SHARED_POLICIES, cores_of, note_policy, speeds
from rsg_server.platform.simgrid_xml.power import power_of_host
from rsg_server.platform.simgrid_xml.tree import Element
from rsg_server.platform.stars import StarZone, fill_cluster
from rsg_server.platform.topology import ClusterLinks, LinkKind, TopologyZone
from rsg_server.platform.torus import TorusZone
from rsg_server.platform.zone import Zone


def radicals(text: str) -> list[int]:
    """Return the numbers that a radical such as `0-9,12,20-29` lists. Raises ValueError for another text."""
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        last = last if dash else first
        if not (first.isdecimal() and last.isdecimal() and len(last) < 12 and int(first) <= int(last)):
            raise ValueError(f"expected numbers and ranges such as '0-9,12', got {text[:60]!r}")
        if int(last) - int(first) >= HOSTS_MAX:
            raise ValueError(f"{part[:60]!r} is more than {HOSTS_MAX:,} hosts; make the cluster smaller")
        numbers += range(int(first), int(last) + 1)
    return numbers


def counts(text: str, expected: str, amounts: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """Return the whole numbers, at least 1, of a text such as `3,4;4,3`.

    `amounts` says how many numbers each part between semicolons must have. Raises ValueError for another text.
    """
    try:
        parts = [tuple(int(number) for number in part.split(",")) for part in text.split(";")]
    except ValueError:
        parts = []
    wrong = not parts or any(number < 1 or number > HOSTS_MAX for part in parts for number in part)
    if wrong or (amounts and tuple(map(len, parts)) != amounts):
        raise ValueError(f"expected {expected}, got {text[:60]!r}")
    return parts


def fat_tree_shape(text: str) -> FatTreeShape:
    """Return the shape of a fat tree from a text `levels;children,...;parents,...;cables,...`. Raises ValueError."""
    expected = "'levels;children,..;parents,..;cables,..' such as '2;4,4;1,2;1,2'"
    parts = counts(text, expected)
    levels = parts[0][0]
    if len(parts) != 4 or tuple(map(len, parts)) != (1, levels, levels, levels):
        raise ValueError(f"expected {expected}, with as many numbers in each list as there are levels, got {text[:60]!r}")
    return FatTreeShape(*parts[1:])


def dragonfly_shape(text: str) -> DragonflyShape:
    """Return the shape of a dragonfly from a text `groups,cables;chassis,cables;routers,cables;hosts`. Raises ValueError."""
    expected = "'groups,cables;chassis,cables;routers,cables;hosts' such as '3,4;4,3;5,1;2'"
    (groups, blue), (chassis, black), (routers, green), (hosts,) = counts(text, expected, (2, 2, 2, 1))
    return DragonflyShape(groups, chassis, routers, hosts, blue, black, green)


def torus_dimensions(text: str) -> tuple[int, ...]:
    """Return the dimensions of a torus from a text such as `3,2,2`. Raises ValueError for another text."""
    parts = counts(text, "the size of each dimension such as '3,2,2'")
    if len(parts) != 1:
        raise ValueError(f"expected the size of each dimension such as '3,2,2', got {text[:60]!r}")
    return parts[0]


def add_cluster(context: Context, element: Element, parent: Zone | None) -> Zone:
    """Add the zone that a `<cluster>` element describes, and return it."""
    labels = context.value(element, "radical", radicals)
    hosts = _hosts(context, element, labels)
    zone = TOPOLOGIES[element.attributes["topology"]](context, element, parent, hosts, labels)
    context.add_point(element, zone.point)
    for point in zone.points:
        context.add_point(element, point)
    return zone


def _hosts(context: Context, element: Element, labels: list[int]) -> list[Host]:
    all_speeds = context.quantity(element, "speed", speeds)
    if all_speeds[0] <= 0:
        context.warn(element, NO_SPEED)
    cores = cores_of(context, element)
    properties = MappingProxyType(context.properties(element))
    power = power_of_host(context, element, len(all_speeds))
    prefix, suffix = element.attributes["prefix"], element.attributes["suffix"]
    return [
        Host(
            f"{prefix}{label}{suffix}",
            (context.next_address(element),),
            cores,
            speeds_flops=all_speeds,
            properties=properties,
            power=power,
        )
        for label in labels
    ]


def _optional(context: Context, element: Element, key: str, parse: Callable[[str], float]) -> float | None:
    return context.quantity(element, key, parse) if element.attributes[key] else None


def cluster_links(context: Context, element: Element) -> ClusterLinks:
    """Return the links that the attributes of a `<cluster>` describe.

    SimGrid 3.32 turns a cluster's fat pipes into shared links.
    """
    policy = SHARED_POLICIES.get(element.attributes["sharing_policy"])
    note_policy(context, element)
    if policy is not None and context.simgrid_compat:
        policy = SharingPolicy.SHARED
    bandwidth = context.quantity(element, "bw", units.bandwidth_bytes_per_s)
    latency = context.quantity(element, "lat", units.time_s)
    loopback = _optional(context, element, "loopback_bw", units.bandwidth_bytes_per_s)
    loopback_latency = _optional(context, element, "loopback_lat", units.time_s)
    return ClusterLinks(
        LinkKind(bandwidth, latency, policy),
        LinkKind(loopback, loopback_latency or 0.0, SharingPolicy.FATPIPE) if loopback else None,
        _optional(context, element, "limiter_link", units.bandwidth_bytes_per_s),
    )


def _flat(context: Context, element: Element, parent: Zone | None, hosts: list[Host], labels: list[int]) -> Zone:
    name = element.attributes["id"]
    zone = StarZone(name, parent, context.at(element), context.simgrid_compat)
    backbone_bandwidth = _optional(context, element, "bb_bw", units.bandwidth_bytes_per_s)
    backbone = None
    if backbone_bandwidth is not None:
        latency = context.quantity(element, "bb_lat", units.time_s)
        policy = SHARED_POLICIES[element.attributes["bb_sharing_policy"]]
        backbone = Link(f"{name}_backbone", backbone_bandwidth, latency, policy)
    fill_cluster(zone, hosts, [f"{name}_link_{label}" for label in labels], cluster_links(context, element), backbone)
    for link in zone.links:
        if context.links.setdefault(link.name, (link, element.line))[0] is not link:
            raise context.fail(element, f"{context.name_of(element)}: a link {link.name!r} is there already; choose another id")
    router = f"{element.attributes['prefix']}{name}_router{element.attributes['suffix']}"
    zone.add_router(element.attributes["router_id"] or router)
    return zone


def _check_size(context: Context, element: Element, given: int, expected: int) -> None:
    if given != expected:
        text = (
            f"radical: topo_parameters {element.attributes['topo_parameters']!r} make {expected} hosts, radical names {given}"
        )
        raise context.fail(element, f"{context.name_of(element)}: {text}; change one")


def _fat_tree(context: Context, element: Element, parent: Zone | None, hosts: list[Host], labels: list[int]) -> TopologyZone:
    shape = context.value(element, "topo_parameters", fat_tree_shape)
    _check_size(context, element, len(hosts), shape.hosts)
    zone = FatTreeZone(
        element.attributes["id"],
        parent,
        hosts,
        shape,
        cluster_links(context, element),
        lambda index: str(labels[index]),
        context.fat_tree_numbers,
        context.at(element),
        context.simgrid_compat,
    )
    context.next_fat_tree(zone.cables, len(hosts))
    return zone


def _dragonfly(context: Context, element: Element, parent: Zone | None, hosts: list[Host], labels: list[int]) -> TopologyZone:
    shape = context.value(element, "topo_parameters", dragonfly_shape)
    _check_size(context, element, len(hosts), shape.hosts)
    gates = shape.routers if context.simgrid_compat else shape.routers * shape.chassis
    if shape.groups > gates:
        text = f"topo_parameters: {shape.groups} groups, but only {gates} routers of a group can lead to others; add routers"
        raise context.fail(element, f"{context.name_of(element)}: {text}")
    zone = DragonflyZone(
        element.attributes["id"],
        parent,
        hosts,
        shape,
        cluster_links(context, element),
        lambda index: str(labels[index]),
        context.dragonfly_numbers,
        context.at(element),
        context.simgrid_compat,
    )
    context.next_dragonfly(zone.cables)
    return zone


def _torus(context: Context, element: Element, parent: Zone | None, hosts: list[Host], labels: list[int]) -> TopologyZone:
    dimensions = context.value(element, "topo_parameters", torus_dimensions)
    size = 1
    for dimension in dimensions:
        size *= dimension
    _check_size(context, element, len(hosts), size)
    return TorusZone(
        element.attributes["id"],
        parent,
        hosts,
        dimensions,
        cluster_links(context, element),
        lambda index: str(labels[index]),
        context.at(element),
        context.simgrid_compat,
    )


TOPOLOGIES: dict[str, Callable[[Context, Element, Zone | None, list[Host], list[int]], Zone]] = {
    "FLAT": _flat,
    "FAT_TREE": _fat_tree,
    "DRAGONFLY": _dragonfly,
    "TORUS": _torus,
}


# Zones with routing="Cluster"


def fill_cluster_zone(context: Context, element: Element, zone: StarZone) -> None:
    """Add to a zone with routing "Cluster" what must come last: its backbone, then host_links, then cabinets."""
    backbone: tuple[Link, ...] = ()
    for child in element.below("backbone"):
        context.check(child)
        bandwidth = context.quantity(child, "bandwidth", units.bandwidth_bytes_per_s)
        link = Link(child.attributes["id"], bandwidth, context.quantity(child, "latency", units.time_s))
        context.add_link(child, zone, link.name, link)
        backbone = (link,)
    for child in element.below("host_link"):
        context.check(child)
        point = context.point(child, "id")
        if point.zone is not zone or point.host is None:
            raise context.fail(child, f"{context.name_of(child)}: {point.name!r} is no host of zone {zone.name}; name one")
        spoke = zone.spoke(point)
        spoke.up = (_one_link(context, child, "up"), *backbone)
        spoke.down = (*backbone, _one_link(context, child, "down"))
    for child in element.below("cabinet"):
        context.check(child)
        _add_cabinet(context, child, zone, backbone)


def _one_link(context: Context, element: Element, key: str) -> Link:
    name = element.attributes[key]
    found = context.links.get(name)
    if found is None:
        raise context.unknown(element, "link", name, context.links)
    if isinstance(found[0], Duplex):
        raise context.fail(element, f"{context.name_of(element)}: {key}: write '{name}_UP' or '{name}_DOWN'")
    return found[0]


def _add_cabinet(context: Context, element: Element, zone: StarZone, backbone: tuple[Link, ...]) -> None:
    speed = context.quantity(element, "speed", speeds)
    bandwidth = context.quantity(element, "bw", units.bandwidth_bytes_per_s)
    latency = context.quantity(element, "lat", units.time_s)
    for label in context.value(element, "radical", radicals):
        name = f"{element.attributes['prefix']}{label}{element.attributes['suffix']}"
        point = zone.add_host(Host(name, (context.next_address(element),), speeds_flops=speed))
        context.add_point(element, point)
        up, down = Link(f"link_{name}_UP", bandwidth, latency), Link(f"link_{name}_DOWN", bandwidth, latency)
        for link in (up, down):
            context.add_link(element, zone, link.name, link)
        spoke = zone.spoke(point)
        spoke.up, spoke.down = (up, *backbone), (*backbone, down)
