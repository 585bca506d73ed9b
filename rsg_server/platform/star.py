"""Makes a star: every host has an up link and a down link to one switch (split duplex, as in SimGrid's flat cluster)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rsg_server.platform.host import Host
from rsg_server.platform.link import SharingPolicy
from rsg_server.platform.platform import Platform, zoned_platform
from rsg_server.platform.power import LinkPower
from rsg_server.platform.stars import StarZone
from rsg_server.platform.topology import LinkKind


@dataclass(frozen=True, slots=True)
class Access:
    """The link between a host and the switch, equal in both directions: bytes per second, latency in ns, watts."""

    bandwidth_bytes_per_s: float = 1.25e9
    latency_ns: int = 25_000
    power: LinkPower | None = None


def star(
    hosts: Sequence[Host],
    access: Access | None = None,
    loopback: Access | None = None,
    overrides: Mapping[str, Access] | None = None,
) -> Platform:
    """Return the platform of a star; `overrides` gives the hosts with these names another access link."""
    default = access or Access()
    loop = loopback or Access(1e10, 5_000)
    zone = StarZone("switch")
    for host in hosts:
        own = (overrides or {}).get(host.name, default)
        spoke = zone.spoke(zone.add_host(host))
        up, down = LinkKind(own.bandwidth_bytes_per_s, own.latency_ns / 1e9, power=own.power).make(host.name)
        loop_kind = LinkKind(loop.bandwidth_bytes_per_s, loop.latency_ns / 1e9, SharingPolicy.FATPIPE)
        spoke.up, spoke.down, spoke.loopback = (up,), (down,), loop_kind.make(f"{host.name}_loopback")[0]
        zone.links += (up, down, spoke.loopback)
    return zoned_platform(zone)
