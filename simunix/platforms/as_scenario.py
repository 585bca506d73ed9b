"""Write a platform as the sections `hosts:`, `network:` and `storages:` of a scenario."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import yaml

from rsg_server.errors import SimunixError
from rsg_server.platform.disk import Disk
from rsg_server.platform.dragonfly import DragonflyZone
from rsg_server.platform.fat_tree import FatTreeZone
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, SharingPolicy
from rsg_server.platform.platform import Platform
from rsg_server.platform.properties import NO_PROPERTIES
from rsg_server.platform.topology import TopologyZone
from rsg_server.platform.torus import TorusZone
from simunix.platforms.flat import flatten, inner_zone
from simunix.platforms.power import keys_of_host, properties_of_link, stopped_states
from simunix.ranges import expand_hosts

_NUMBERED = re.compile(r"(.*?)([0-9]+)([^0-9]*)$")
CONVERTED = ("size", "readwrite_bw", "latency", "fair_per")
"""The properties of a disk for which a scenario has a key."""


def scenario_text(platform: Platform, name: str) -> str:
    """Return the platform as YAML. A scenario cannot have the file's profiles and properties; a comment names the
    profiles and the properties of disks.
    """
    document = {"name": name, "network": _network(platform), "hosts": [*_hosts(platform.hosts)]}
    if storages := _storages(platform.hosts):
        document["storages"] = storages
    lost = [f"profiles of {use.element}" for use in platform.description.profiles]
    lost += [
        f"property {key} of disk {disk.name} of {host.name}"
        for host in platform.hosts
        for disk in host.disks
        for key in disk.properties
        if key not in CONVERTED
    ]
    lost += [f"speed 0 of {host.name}, which gets the default" for host in platform.hosts if host.speed_flops <= 0]
    lost += [
        f"power states of {host.name}, of which one has speed 0"
        for host in platform.hosts
        if len(host.speeds_flops) > 1 and stopped_states(host)
    ]
    comment = "".join(f"# not converted: {text}\n" for text in lost)
    return comment + yaml.safe_dump(document, sort_keys=False, width=120)


def _hosts(hosts: Sequence[Host]) -> Iterator[dict[str, Any]]:
    """Yield the sections of hosts; consecutive hosts of one kind share a section."""
    for _, neighbours in groupby(hosts, lambda host: (host.cores, host.speeds_flops, host.power_state, host.power)):
        group = list(neighbours)
        yield {"name": host_list([host.name for host in group]), "cores": group[0].cores, **keys_of_host(group[0])}


def _storages(hosts: Sequence[Host]) -> list[dict[str, Any]]:
    """Return the sections of disks; equal disks of several hosts share a section."""
    owners: dict[Disk, list[str]] = {}
    for host in hosts:
        for disk in host.disks:
            owners.setdefault(replace(disk, properties=NO_PROPERTIES), []).append(host.name)
    return [_storage(disk, names) for disk, names in owners.items()]


def _storage(disk: Disk, names: Sequence[str]) -> dict[str, Any]:
    section: dict[str, Any] = {
        "name": disk.name,
        "host": host_list(names),
        "read_bandwidth": _rate(disk.read_bytes_per_s),
        "write_bandwidth": _rate(disk.write_bytes_per_s),
    }
    if disk.readwrite_bytes_per_s is not None:
        section["readwrite_bandwidth"] = _rate(disk.readwrite_bytes_per_s)
    if disk.latency_s:
        section["latency"] = _seconds(disk.latency_s)
    if disk.capacity_bytes is not None:
        section["capacity"] = disk.capacity_bytes
    if disk.fair_per_application:
        section["fair_per"] = "application"
    return section


def host_list(names: Sequence[str]) -> str:
    """Return names as a short host list, such as `node-[0-15].org,login`. Raises SimunixError for a name that a
    scenario's host cannot have.
    """
    parts: list[tuple[str, str, int, int]] = []
    for name in names:
        match = _NUMBERED.match(name)
        prefix, suffix = (match[1], match[3]) if match else (name, "")
        number = int(match[2]) if match and str(int(match[2])) == match[2] else -1
        if number >= 0 and parts and parts[-1][:2] == (prefix, suffix) and parts[-1][3] == number - 1:
            parts[-1] = (*parts[-1][:3], number)
        elif number >= 0:
            parts.append((prefix, suffix, number, number))
        else:
            parts.append((name, "", -1, -1))
    ranges = [
        prefix if first < 0 else f"{prefix}{first}{suffix}" if first == last else f"{prefix}[{first}-{last}]{suffix}"
        for prefix, suffix, first, last in parts
    ]
    try:
        expand_hosts(",".join(ranges))
    except ValueError as error:
        raise SimunixError(f"a scenario cannot have these hosts: {error}; rename them in the platform file") from None
    return ",".join(ranges)


def _rate(bytes_per_s: float) -> str:
    return f"{bytes_per_s!r}Bps"


def _seconds(value: float) -> str:
    return f"{value!r}s"


def _network(platform: Platform) -> dict[str, Any]:
    zone = inner_zone(platform)
    if isinstance(zone, TopologyZone) and type(zone) in SHAPES:
        return _cables(zone) | SHAPES[type(zone)](zone)
    flat = flatten(platform)
    network: dict[str, Any] = {"routing": flat.routing}
    if flat.switches:
        network["switches"] = host_list(flat.switches)
    network["links"] = [_link(link) for link in flat.links]
    network["routes"] = [
        {"from": route.source, "to": route.destination, "links": [link.name for link in route.links], "symmetrical": False}
        | ({"distance": _seconds(route.distance_s)} if route.distance_s else {})
        for route in flat.routes
    ]
    if not network["links"]:
        raise SimunixError("this platform has no links; a scenario's hosts must be connected")
    return network


def _link(link: Link) -> dict[str, Any]:
    """Return the section of a link. A split-duplex link becomes a section in which each direction is a shared link of
    its own.
    """
    policy = "fatpipe" if link.policy is SharingPolicy.FATPIPE else "shared"
    return {
        "name": link.name,
        "bandwidth": _rate(link.bandwidth_bytes_per_s),
        "latency": _seconds(link.latency_s),
        "policy": policy,
        **properties_of_link(link),
    }


def _cables(zone: TopologyZone) -> dict[str, Any]:
    kind, loopback = zone.cluster_links.cables, zone.cluster_links.loopback
    return {
        "bandwidth": _rate(kind.bandwidth_bytes_per_s),
        "latency": _seconds(kind.latency_s),
        "policy": kind.policy.value if kind.policy else "split-duplex",
        "loopback_bandwidth": _rate(loopback.bandwidth_bytes_per_s if loopback else 1e10),
        "loopback_latency": _seconds(loopback.latency_s if loopback else 0.0),
    }


def _limited(zone: TopologyZone, section: dict[str, Any]) -> dict[str, Any]:
    limit = zone.cluster_links.limiter_bytes_per_s
    return section | ({"limiter": _rate(limit)} if limit else {})


def _fat_tree(zone: Any) -> dict[str, Any]:
    shape = zone.shape
    section = {"down": list(shape.down), "up": list(shape.up), "cables": list(shape.cables)}
    return {"fat-tree": _limited(zone, section)}


def _dragonfly(zone: Any) -> dict[str, Any]:
    shape = zone.shape
    section = {"groups": shape.groups, "chassis": shape.chassis, "routers": shape.routers, "hosts": shape.hosts_per_router}
    colours = {"blue": shape.blue_cables, "black": shape.black_cables, "green": shape.green_cables}
    return {"dragonfly": _limited(zone, section | colours)}


def _torus(zone: Any) -> dict[str, Any]:
    return {"torus": _limited(zone, {"dimensions": list(zone.dimensions)})}


SHAPES: dict[type, Callable[[Any], dict[str, Any]]] = {
    FatTreeZone: _fat_tree,
    DragonflyZone: _dragonfly,
    TorusZone: _torus,
}
