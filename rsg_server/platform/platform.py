"""A platform: all hosts, and the routes between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rsg_server.errors import SimunixError
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route
from rsg_server.platform.profile import ProfileUse
from rsg_server.platform.properties import NO_PROPERTIES, no_properties
from rsg_server.platform.zone import Zone, find_route


@dataclass(frozen=True, slots=True)
class Description:
    """The content of a platform's description besides hosts and routes: zones, profiles, and SimGrid's `<config>`.

    `warnings` are lines, with file and line number, about parts that were read although they are outdated or wrong.
    """

    root: Zone | None = None
    all_links: Callable[[], Iterable[Link]] = tuple
    profiles: tuple[ProfileUse, ...] = ()
    config: Mapping[str, str] = field(default_factory=no_properties, hash=False)
    warnings: tuple[str, ...] = ()


class Platform:
    """The hosts of a platform by name and by address. A route is computed when it is first asked for, and then kept."""

    def __init__(
        self, hosts: Sequence[Host], find_route: Callable[[Host, Host], Route], description: Description | None = None
    ) -> None:
        self.hosts = tuple(hosts)
        self.description = description or Description()
        self._find_route = find_route
        self._routes: dict[tuple[str, str], Route] = {}
        self._by_name: dict[str, Host] = {}
        self._by_address: dict[bytes, Host] = {}
        for host in self.hosts:
            if self._by_name.setdefault(host.name, host) is not host:
                raise SimunixError(f"host {host.name}: named twice; host names must differ")
            for address in host.addresses:
                other = self._by_address.setdefault(address.packed, host)
                if other is not host:
                    raise SimunixError(f"hosts {other.name} and {host.name} have the same address {address}; change one")

    def host_by_name(self, name: str) -> Host:
        """Return the host with a name. Raises KeyError if there is none."""
        return self._by_name[name]

    def host_by_address(self, packed: bytes) -> Host | None:
        """Return the host with an address of 4 or 16 bytes; None if no host has it."""
        return self._by_address.get(packed)

    def route(self, source: Host, destination: Host) -> Route:
        """Return the links from a host to another one, or from a host to itself its loopback. Raises NoRouteError."""
        key = (source.name, destination.name)
        if key not in self._routes:
            self._routes[key] = self._find_route(source, destination)
        return self._routes[key]

    @cached_property
    def links(self) -> Mapping[str, Link]:
        """All links by name, in the order of the platform's description."""
        return {link.name: link for link in self.description.all_links()}


def zoned_platform(
    root: Zone,
    profiles: tuple[ProfileUse, ...] = (),
    config: Mapping[str, str] = NO_PROPERTIES,
    warnings: tuple[str, ...] = (),
) -> Platform:
    """Return the platform that consists of all hosts inside of a zone."""
    found = [point for zone in root.family() for point in zone.points if point.host is not None]
    points = {point.name: point for point in found}
    hosts = [point.host for point in found if point.host is not None]

    def all_links() -> Iterable[Link]:
        for zone in root.family():
            yield from zone.all_links()

    def route(source: Host, destination: Host) -> Route:
        return find_route(points[source.name], points[destination.name])

    return Platform(hosts, route, Description(root, all_links, profiles, config, warnings))
