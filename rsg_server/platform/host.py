"""Describes a host of the platform by those properties that do not change during a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

from rsg_server.platform.disk import Disk
from rsg_server.platform.power import HostPower
from rsg_server.platform.properties import no_properties


@dataclass(frozen=True, slots=True)
class NumaNodes:
    """The NUMA nodes of a host; each has an equal part of the host's cores, in their order.

    Threads of a core count separately (cpu % cores). With 0 nodes, programs see the nodes of this computer.
    """

    nodes: int = 1
    cores: int = 1


@dataclass(frozen=True, slots=True)
class Host:
    """A host of the platform: name, addresses, number of cores, bytes of memory, and the speed of a core (flop/s) per
    power state.

    Power states, properties (SimGrid's `<prop>`) and coordinates are stored and not interpreted. Coordinates are x and
    y in a plane and a height, in milliseconds (Vivaldi). `disk_bytes` is the size of the file systems that programs
    see.
    """

    name: str
    addresses: tuple[IPv4Address | IPv6Address, ...]
    cores: int = 1
    memory_bytes: int = 4 << 30
    speeds_flops: tuple[float, ...] = (1e9,)
    power_state: int = 0
    properties: Mapping[str, str] = field(default_factory=no_properties, hash=False)
    disks: tuple[Disk, ...] = ()
    coordinates: tuple[float, float, float] | None = None
    disk_bytes: int = 1 << 40
    power: HostPower | None = None
    numa: NumaNodes = NumaNodes()

    @property
    def speed_flops(self) -> float:
        """The speed of one core in the initial power state, in flop/s."""
        return self.speeds_flops[self.power_state]
