"""All hosts and how to get from one to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rsg_server.errors import SimunixError
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route


class Platform:
    """Hosts by name and by address; routes are computed when first asked for and kept."""

    def __init__(self, hosts: Sequence[Host], find_route: Callable[[Host, Host], Route], links: Iterable[Link] = ()) -> None:
        self.hosts = tuple(hosts)
        self.links = {link.name: link for link in links}
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
        """Raises KeyError for a name that no host has."""
        return self._by_name[name]

    def host_by_address(self, packed: bytes) -> Host | None:
        """The host with an address of 4 or 16 bytes; None if nobody has it."""
        return self._by_address.get(packed)

    def route(self, source: Host, destination: Host) -> Route:
        """The links from source to destination; a host reaches itself through its loopback."""
        key = (source.name, destination.name)
        if key not in self._routes:
            self._routes[key] = self._find_route(source, destination)
        return self._routes[key]
