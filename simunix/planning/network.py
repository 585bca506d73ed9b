"""Make the platform of a run from the `network:` section and the hosts of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.platform.dragonfly import DragonflyShape, DragonflyZone
from rsg_server.platform.errors import NoRouteError
from rsg_server.platform.fat_tree import FatTreeShape, FatTreeZone
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route, SharingPolicy
from rsg_server.platform.platform import Platform, zoned_platform
from rsg_server.platform.simgrid_xml import load_platform
from rsg_server.platform.star import Access, star
from rsg_server.platform.stars import StarZone, VivaldiZone, fill_cluster
from rsg_server.platform.topology import ClusterLinks, LinkKind
from rsg_server.platform.torus import TorusZone
from simunix.planning.explicit_links import linked_zone
from simunix.planning.platform_profiles import renamed
from simunix.planning.storages import together
from simunix.ranges import expand_hosts
from simunix.scenario.network_section import NetworkSection
from simunix.scenario.power_section import power_of_link

NS = 10**9
POLICIES = {"split-duplex": None, "shared": SharingPolicy.SHARED, "fatpipe": SharingPolicy.FATPIPE}
CHECKED_PAIRS = 20_000


def build_platform(
    network: NetworkSection, hosts: Sequence[Host], overrides: Mapping[str, Access], folder: Path = Path()
) -> Platform:
    """Make the platform of a scenario; `overrides` are access links of single hosts.

    Raises SimunixError for sections that do not fit together.
    """
    power = power_of_link(network.wattage_range, network.wattage_off)
    overrides = {name: replace(own, power=power) for name, own in overrides.items()} if power is not None else overrides
    if network.shape == "star":
        loopback = Access(network.loopback_bandwidth, network.loopback_latency)
        return star(hosts, Access(network.bandwidth, network.latency, power), loopback, overrides)
    if overrides and network.shape not in ("cluster", "vivaldi"):
        name = next(iter(overrides))
        text = f"host {name} has a bandwidth or latency of its own, which hosts of a star, cluster or vivaldi only can have"
        raise SimunixError(f"network.{network.shape}: {text}; leave it out")
    if network.shape == "platform":
        platform = _placed(network, hosts, folder)
    else:
        platform = BUILDERS[network.shape](network, hosts, overrides)
    if network.shape in ("platform", "links"):
        _check_connected(platform, network.shape)
    return platform


def _links(network: NetworkSection, limiter: float | None) -> ClusterLinks:
    return ClusterLinks(
        LinkKind(
            network.bandwidth,
            network.latency / NS,
            POLICIES[network.policy],
            power_of_link(network.wattage_range, network.wattage_off),
        ),
        LinkKind(network.loopback_bandwidth, network.loopback_latency / NS),
        limiter,
    )


def _cluster(network: NetworkSection, hosts: Sequence[Host], overrides: Mapping[str, Access]) -> Platform:
    section = network.cluster
    assert section is not None
    backbone = None
    if section.backbone is not None:
        policy = SharingPolicy(section.backbone_policy)
        backbone = Link("backbone", section.backbone, section.backbone_latency / NS, policy)
    zone = StarZone("cluster", None)
    links = _links(network, section.limiter)
    for position, host in enumerate(hosts):
        own = overrides.get(host.name)
        kind = (
            replace(links, cables=LinkKind(own.bandwidth_bytes_per_s, own.latency_ns / NS, links.cables.policy, own.power))
            if own
            else links
        )
        fill_cluster(zone, [host], [host.name], kind, backbone)
        if position and backbone:
            zone.links.remove(backbone)
    return zoned_platform(zone)


def _fat_tree(network: NetworkSection, hosts: Sequence[Host], _overrides: Mapping[str, Access]) -> Platform:
    section = network.fat_tree
    assert section is not None
    levels = len(section.down)
    shape = FatTreeShape(tuple(section.down), tuple(section.up), tuple(section.cables or [1] * levels))
    _check_places("fat-tree", hosts, shape.hosts)
    return zoned_platform(FatTreeZone("fat-tree", None, hosts, shape, _links(network, section.limiter)))


def _dragonfly(network: NetworkSection, hosts: Sequence[Host], _overrides: Mapping[str, Access]) -> Platform:
    section = network.dragonfly
    assert section is not None
    colours = (section.blue, section.black, section.green)
    shape = DragonflyShape(section.groups, section.chassis, section.routers, section.hosts, *colours)
    _check_places("dragonfly", hosts, shape.hosts)
    return zoned_platform(DragonflyZone("dragonfly", None, hosts, shape, _links(network, section.limiter)))


def _torus(network: NetworkSection, hosts: Sequence[Host], _overrides: Mapping[str, Access]) -> Platform:
    section = network.torus
    assert section is not None
    _check_places("torus", hosts, prod(section.dimensions))
    return zoned_platform(TorusZone("torus", None, hosts, tuple(section.dimensions), _links(network, section.limiter)))


def _check_places(shape: str, hosts: Sequence[Host], places: int) -> None:
    if len(hosts) > places:
        raise SimunixError(f"network.{shape}: it has places for {places} hosts, the scenario has {len(hosts)}; make it larger")


def _vivaldi(network: NetworkSection, hosts: Sequence[Host], overrides: Mapping[str, Access]) -> Platform:
    where: dict[str, tuple[float, float, float]] = {}
    for text, (x, y, height) in (network.vivaldi or {}).items():
        try:
            names = expand_hosts(text)
        except ValueError as error:
            raise SimunixError(f"network.vivaldi: {error}") from None
        for name in names:
            if name not in {host.name for host in hosts}:
                raise SimunixError(f"network.vivaldi: {name!r} is no host of the scenario; leave it out")
            where[name] = (x, y, height)
    zone = VivaldiZone("vivaldi", None)
    default = Access(network.bandwidth, network.latency, power_of_link(network.wattage_range, network.wattage_off))
    for host in hosts:
        if host.name not in where:
            raise SimunixError(f"network.vivaldi: host {host.name} has no coordinates; add '{host.name}: [x, y, height]'")
        own = overrides.get(host.name, default)
        links = replace(_links(network, None), cables=LinkKind(own.bandwidth_bytes_per_s, own.latency_ns / NS, power=own.power))
        fill_cluster(zone, [replace(host, coordinates=where[host.name])], [host.name], links)
    return zoned_platform(zone)


def _explicit(network: NetworkSection, hosts: Sequence[Host], _overrides: Mapping[str, Access]) -> Platform:
    return zoned_platform(linked_zone(network, hosts))


BUILDERS: dict[str, Callable[[NetworkSection, Sequence[Host], Mapping[str, Access]], Platform]] = {
    "cluster": _cluster,
    "fat-tree": _fat_tree,
    "dragonfly": _dragonfly,
    "torus": _torus,
    "vivaldi": _vivaldi,
    "links": _explicit,
}


# A SimGrid platform file


def _placed(network: NetworkSection, hosts: Sequence[Host], folder: Path) -> Platform:
    """Make the platform from a SimGrid platform file: each host of the scenario becomes the host of that name in the
    file.

    If the file has none of the scenario's names, the scenario's hosts become the file's hosts in their order.
    """
    file = folder / (network.platform or "")
    machine = load_platform(file, network.simgrid_compat)
    there = {host.name: host for host in machine.hosts}
    named = [host.name for host in hosts if host.name in there]
    if named and len(named) < len(hosts):
        missing = next(host.name for host in hosts if host.name not in there)
        raise SimunixError(
            f"network.platform: {file} has no host {missing!r}, but it has {named[0]!r}; name all or none as in that file"
        )
    if len(hosts) > len(there):
        raise SimunixError(f"network.platform: {file} has {len(there)} hosts, the scenario has {len(hosts)}; take some away")
    places = [there[host.name] for host in hosts] if named else list(machine.hosts)[: len(hosts)]
    place = {host.name: other for host, other in zip(hosts, places, strict=True)}
    here = [
        replace(
            place[host.name],
            name=host.name,
            addresses=host.addresses,
            cores=host.cores,
            memory_bytes=host.memory_bytes,
            disks=together(place[host.name], host),
        )
        for host in hosts
    ]

    def find_route(source: Host, destination: Host) -> Route:
        return machine.route(place[source.name], place[destination.name])

    names = {other.name: name for name, other in place.items()}
    profiles = renamed(machine.description.profiles, names)
    return Platform(here, find_route, replace(machine.description, profiles=profiles))


def _check_connected(platform: Platform, shape: str) -> None:
    """Check that hosts have routes to each other in both directions: all pairs or, if there are many hosts, each host
    with the first ones.
    """
    hosts = platform.hosts
    pairs = [(a, b) for a in hosts[: max(1, CHECKED_PAIRS // len(hosts))] for b in hosts]
    for one, other in pairs:
        for source, destination in ((one, other), (other, one)):
            try:
                platform.route(source, destination)
            except NoRouteError as error:
                raise SimunixError(f"network.{shape}: {error}") from None
