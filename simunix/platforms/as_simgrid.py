"""Write a platform as a SimGrid platform file (DTD 4.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from rsg_server.errors import SimunixError
from rsg_server.platform.disk import Disk
from rsg_server.platform.dragonfly import DragonflyZone
from rsg_server.platform.fat_tree import FatTreeZone
from rsg_server.platform.host import Host
from rsg_server.platform.platform import Platform
from rsg_server.platform.topology import TopologyZone
from rsg_server.platform.torus import TorusZone
from simunix.platforms.flat import Flat, flatten, inner_zone
from simunix.platforms.power import properties_of_host, properties_of_link

HEAD = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""
ROUTINGS = {"full": "Full", "floyd": "Floyd", "dijkstra": "Dijkstra"}
_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]*)([^0-9]*)$")


def simgrid_text(platform: Platform, name: str) -> str:
    """Return the platform as XML. Raises SimunixError for parts that SimGrid's format cannot express."""
    zone = inner_zone(platform)
    if isinstance(zone, TopologyZone):
        cluster = _cluster(zone, platform.hosts, name)
        if cluster is not None:
            return f"{HEAD}{cluster}</platform>\n"
    flat = flatten(platform)
    if any(route.distance_s for route in flat.routes):
        raise SimunixError("routes with a distance have no form in SimGrid's files but Vivaldi zones; write them by hand")
    return HEAD + "".join(_zone(flat, platform.hosts, name)) + "</platform>\n"


def _tag(tag: str, end: str = "/>", /, **attributes: object) -> str:
    return f"<{tag} " + " ".join(f"{key}={quoteattr(str(value))}" for key, value in attributes.items()) + end + "\n"


def _zone(flat: Flat, hosts: tuple[Host, ...], name: str) -> Iterator[str]:
    yield _tag("zone", ">", id=name, routing=ROUTINGS[flat.routing])
    for host in hosts:
        yield from _host(host)
    for switch in flat.switches:
        yield "  " + _tag("router", id=switch)
    for link in flat.links:
        bandwidth, latency = f"{link.bandwidth_bytes_per_s!r}Bps", f"{link.latency_s!r}s"
        policy = link.policy.name
        attributes = {"id": link.name, "bandwidth": bandwidth, "latency": latency, "sharing_policy": policy}
        yield "  " + _around("link", attributes, _properties(properties_of_link(link)))
    for route in flat.routes:
        yield "  " + _tag("route", ">", src=route.source, dst=route.destination, symmetrical="NO")
        for link in route.links:
            yield "    " + _tag("link_ctn", id=link.name)
        yield "  </route>\n"
    yield "</zone>\n"


def _disk(disk: Disk) -> str:
    """Return the XML of a disk. The size is a property of SimGrid's file systems; SimGrid ignores the other properties."""
    said = {
        "size": f"{disk.capacity_bytes}B" if disk.capacity_bytes is not None else "",
        "readwrite_bw": f"{disk.readwrite_bytes_per_s!r}Bps" if disk.readwrite_bytes_per_s is not None else "",
        "latency": f"{disk.latency_s!r}s" if disk.latency_s else "",
        "fair_per": "application" if disk.fair_per_application else "",
    }
    properties = {**disk.properties, **said}
    read, write = f"{disk.read_bytes_per_s!r}Bps", f"{disk.write_bytes_per_s!r}Bps"
    lines = [_tag("disk", ">", id=disk.name, read_bw=read, write_bw=write)]
    lines += ["  " + _tag("prop", id=key, value=value) for key, value in properties.items() if value]
    return "".join("    " + line for line in [*lines, "</disk>\n"])


def _cluster(zone: TopologyZone, hosts: tuple[Host, ...], name: str) -> str | None:
    """Return a `<cluster>` element if the hosts are equal, numbered in order, fill all places and have no disks;
    otherwise None.
    """
    matches = [_NUMBERED.match(host.name) for host in hosts]
    parts = {(match[1], match[3]) for match in matches if match}
    kinds = {(host.cores, host.speeds_flops) for host in hosts}
    if None in matches or len(parts) != 1 or len(kinds) != 1 or len(hosts) != zone.places or any(host.disks for host in hosts):
        return None
    (prefix, suffix), (cores, speeds) = parts.pop(), kinds.pop()
    # the element `cluster` has no attribute `pstate`
    if {(host.power_state, host.power) for host in hosts} != {(0, hosts[0].power)}:
        return None
    links = zone.cluster_links
    topology, parameters = SHAPES[type(zone)](zone)
    attributes: dict[str, object] = {
        "id": name,
        "prefix": prefix,
        "suffix": suffix,
        "radical": ",".join(match[2] for match in matches if match),
        "speed": _speeds(speeds),
        "core": cores,
        "bw": f"{links.cables.bandwidth_bytes_per_s!r}Bps",
        "lat": f"{links.cables.latency_s!r}s",
        "sharing_policy": links.cables.policy.name if links.cables.policy else "SPLITDUPLEX",
        "topology": topology,
        "topo_parameters": parameters,
    }
    if links.loopback:
        attributes["loopback_bw"] = f"{links.loopback.bandwidth_bytes_per_s!r}Bps"
        attributes["loopback_lat"] = f"{links.loopback.latency_s!r}s"
    if links.limiter_bytes_per_s:
        attributes["limiter_link"] = f"{links.limiter_bytes_per_s!r}Bps"
    return _around("cluster", attributes, _properties(properties_of_host(hosts[0])))


def _host(host: Host) -> Iterator[str]:
    attributes: dict[str, object] = {"id": host.name, "speed": _speeds(host.speeds_flops), "core": host.cores}
    if host.power_state:
        attributes["pstate"] = host.power_state
    inside = _properties(properties_of_host(host)) + "".join(map(_disk, host.disks))
    yield "  " + _around("host", attributes, inside)


def _properties(properties: Mapping[str, str]) -> str:
    return "".join("    " + _tag("prop", id=key, value=value) for key, value in properties.items())


def _around(tag: str, attributes: Mapping[str, object], inside: str) -> str:
    """Return an XML element with its content, each line of which is indented."""
    return _tag(tag, ">", **attributes) + inside + f"  </{tag}>\n" if inside else _tag(tag, **attributes)


def _speeds(speeds_flops: Iterable[float]) -> str:
    return ",".join(f"{speed!r}f" for speed in speeds_flops)


def _numbers(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values))


def _fat_tree(zone: Any) -> tuple[str, str]:
    shape = zone.shape
    lists = ";".join(map(_numbers, (shape.down, shape.up, shape.cables)))
    return "FAT_TREE", f"{shape.levels};{lists}"


def _dragonfly(zone: Any) -> tuple[str, str]:
    shape = zone.shape
    pairs = ((shape.groups, shape.blue_cables), (shape.chassis, shape.black_cables), (shape.routers, shape.green_cables))
    return "DRAGONFLY", ";".join([*map(_numbers, pairs), str(shape.hosts_per_router)])


def _torus(zone: Any) -> tuple[str, str]:
    return "TORUS", _numbers(zone.dimensions)


SHAPES: dict[type, Callable[[Any], tuple[str, str]]] = {
    FatTreeZone: _fat_tree,
    DragonflyZone: _dragonfly,
    TorusZone: _torus,
}
