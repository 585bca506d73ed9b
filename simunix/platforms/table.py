"""Print a platform as tables of hosts, switches and links; equal ones share a row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from rich.console import Group
from rich.markup import escape
from rich.table import Table

from rsg_server.platform.host import Host
from rsg_server.platform.link import Route
from rsg_server.platform.platform import Platform
from rsg_server.platform.properties import NO_PROPERTIES
from rsg_server.platform.zone import Zone
from simunix.console import Console
from simunix.platforms.formatting import POLICIES, bandwidth, latency, some, speed, storage

T = TypeVar("T")
NUMBERS = ("count", "cores", "speed of a core", "bandwidth", "latency", "hosts", "switches", "zones inside")
WIDTH_OF_FILES = 160
Rows = Sequence[tuple[str, ...]]


def together(items: Iterable[tuple[Hashable, T]]) -> list[list[T]]:
    """Group items by key, in the order of the first item of each key."""
    groups: dict[Hashable, list[T]] = defaultdict(list)
    for key, item in items:
        groups[key].append(item)
    return list(groups.values())


def _table(title: str, heads: tuple[str, ...], rows: Rows) -> Table:
    table = Table(title=title, title_justify="left", show_edge=False, box=None, pad_edge=False)
    for head in heads:
        table.add_column(
            head, justify="right" if head in ("count", "cores", "speed of a core", "bandwidth", "latency") else "left"
        )
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _console() -> Console:
    """Return a console as wide as the terminal or, without a terminal, one so wide that no name is cut."""
    console = Console(highlight=False, soft_wrap=True)
    return console if console.is_terminal else Console(highlight=False, soft_wrap=True, width=WIDTH_OF_FILES)


def _hosts(platform: Platform) -> Rows:
    groups = together(((host.cores, host.speeds_flops), host) for host in platform.hosts)
    return [(str(len(group)), some([host.name for host in group]), *_host(group[0])) for group in groups]


def _host(host: Host) -> tuple[str, str]:
    return str(host.cores), speed(host)


def _links(platform: Platform) -> Rows:
    links = platform.links.values()
    groups = together(((link.bandwidth_bytes_per_s, link.latency_s, link.policy), link) for link in links)
    rows = []
    for group in groups:
        link, names = group[0], some([link.name for link in group])
        rows.append((str(len(group)), names, bandwidth(link), latency(link.latency_s), POLICIES[link.policy] or "shared"))
    return rows


def _storages(platform: Platform) -> Rows:
    owned = [(disk, host) for host in platform.hosts for disk in host.disks]
    groups = together((replace(disk, properties=NO_PROPERTIES), (disk, host.name)) for disk, host in owned)
    return [
        (str(len(group)), disk.name, some([name for _, name in group]), *storage(disk))
        for group in groups
        for disk in [group[0][0]]
    ]


def _zones(root: Zone) -> Rows:
    rows = []
    for zone in root.family():
        hosts = sum(point.host is not None for point in zone.points)
        routers = sum(point.host is None and point.inside is None for point in zone.points)
        switches = routers + sum(1 for _ in zone.switches())
        rows.append((zone.name, type(zone).__name__.removesuffix("Zone"), str(hosts), str(switches), str(len(zone.children))))
    return rows


def show_platform(platform: Platform) -> None:
    """Print the tables of a platform."""
    tables: list[Table] = []
    if platform.description.root is not None:
        heads = ("zone", "routing", "hosts", "switches", "zones inside")
        tables.append(_table("Zones", heads, _zones(platform.description.root)))
    tables.append(_table(f"Hosts: {len(platform.hosts):,}", ("count", "names", "cores", "speed of a core"), _hosts(platform)))
    tables.append(
        _table(f"Links: {len(platform.links):,}", ("count", "names", "bandwidth", "latency", "sharing"), _links(platform))
    )
    if disks := _storages(platform):
        of_disks = ("count", "storage", "hosts", "reads", "writes", "together", "latency", "capacity")
        tables.append(_table(f"Storages: {sum(int(row[0]) for row in disks):,}", of_disks, disks))
    if platform.description.profiles:
        uses = [(use.element, use.changes.value, f"{len(use.profile.events)} events") for use in platform.description.profiles]
        tables.append(_table("Changes in time", ("of", "what", "how often"), uses))
    _console().print(Group(*(part for table in tables for part in (table, ""))))


def show_route(route: Route) -> None:
    """Print a line for each link of a route, and the capacity of the whole route."""
    rows = [(link.name, bandwidth(link), latency(link.latency_s), POLICIES[link.policy] or "shared") for link in route.links]
    if route.distance_s:
        rows.append(("distance", "", latency(route.distance_s), ""))
    narrowest = bandwidth(min(route.links, key=lambda link: link.bandwidth_bytes_per_s)) if route.links else "no link"
    rows.append((f"{len(route.links)} links", narrowest, latency(route.latency_s), ""))
    _console().print(_table("", ("link", "bandwidth", "latency", "sharing"), rows))
