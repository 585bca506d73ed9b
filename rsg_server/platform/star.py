"""A star: every host has an up and a down link of its own to one switch (split duplex, SimGrid's flat cluster)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route, SharingPolicy
from rsg_server.platform.platform import Description, Platform


@dataclass(frozen=True, slots=True)
class Access:
    """A host's link to the switch, the same in both directions: bytes per second, nanoseconds."""

    bandwidth_bytes_per_s: float = 1.25e9
    latency_ns: int = 25_000


def star(
    hosts: Sequence[Host],
    access: Access | None = None,
    loopback: Access | None = None,
    overrides: Mapping[str, Access] | None = None,
) -> Platform:
    """Build the platform; `overrides` gives single hosts another access link."""
    default = access or Access()
    loop = loopback or Access(1e10, 5_000)
    ups: dict[str, Link] = {}
    downs: dict[str, Link] = {}
    loops: dict[str, Link] = {}
    for host in hosts:
        own = (overrides or {}).get(host.name, default)
        ups[host.name] = Link(f"{host.name}_UP", own.bandwidth_bytes_per_s, own.latency_ns / 1e9)
        downs[host.name] = Link(f"{host.name}_DOWN", own.bandwidth_bytes_per_s, own.latency_ns / 1e9)
        loops[host.name] = Link(
            f"{host.name}_loopback", loop.bandwidth_bytes_per_s, loop.latency_ns / 1e9, SharingPolicy.FATPIPE
        )

    def find_route(source: Host, destination: Host) -> Route:
        if source is destination:
            return Route((loops[source.name],))
        return Route((ups[source.name], downs[destination.name]))

    links = [*ups.values(), *downs.values(), *loops.values()]
    return Platform(hosts, find_route, Description(all_links=lambda: links))
