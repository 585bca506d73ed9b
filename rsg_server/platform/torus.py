"""Tori of any number of dimensions, with routes along one dimension after the other (TorusZone.cpp of SimGrid 3.32).

The number of a host is x + X·y + X·Y·z ...; each host owns the link to its next neighbour in each dimension. A route
takes the shorter direction around a ring. If both directions are equally long, SimGrid's test of the coordinates
chooses the direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

from rsg_server.platform.host import Host
from rsg_server.platform.link import Link
from rsg_server.platform.topology import ClusterLinks, TopologyZone
from rsg_server.platform.zone import Edge, Zone


class TorusZone(TopologyZone):
    """A torus. A route goes along x first, then along y, and so on."""

    def __init__(
        self,
        name: str,
        parent: Zone | None,
        hosts: Sequence[Host],
        dimensions: tuple[int, ...],
        links: ClusterLinks,
        host_label: Callable[[int], str] = str,
        where: str = "",
        simgrid_compat: bool = False,
    ) -> None:
        super().__init__(name, parent, hosts, links, host_label, where, simgrid_compat)
        self.dimensions = dimensions
        self.places = prod(dimensions)
        self.strides = tuple(prod(dimensions[:axis]) for axis in range(len(dimensions)))

    def neighbour(self, host: int, axis: int, step: int) -> int:
        """Return the host that is one step away along an axis, across the edge of the torus if needed."""
        stride, size = self.strides[axis], self.dimensions[axis]
        coordinate = host // stride % size
        return host + ((coordinate + step) % size - coordinate) * stride

    def cable(self, host: int, axis: int) -> tuple[Link, Link]:
        """Return the links between a host and its next neighbour along an axis: up (to the neighbour) and down (back)."""
        return self.made((host, axis), lambda: f"{self.name}_link_from_{host}_to_{self.neighbour(host, axis, 1)}")

    def goes_up(self, source: int, destination: int, axis: int) -> bool:
        """Return whether a route goes to higher coordinates along an axis, by SimGrid's test of both ends."""
        stride, size = self.strides[axis], self.dimensions[axis]
        here, there, half = source // stride % size, destination // stride % size, size // 2
        return here < there <= here + half or (here > half and (here + half) % size >= there)

    def path(self, source: int, destination: int) -> list[Link]:
        """Return the links of the route between two hosts, along one dimension after the other."""
        links: list[Link] = []
        here = source
        for axis, (stride, size) in enumerate(zip(self.strides, self.dimensions, strict=True)):
            up = self.goes_up(source, destination, axis)
            while here // stride % size != destination // stride % size:
                there = self.neighbour(here, axis, 1 if up else -1)
                links += self.limiter(here)
                links.append(self.cable(here, axis)[0] if up else self.cable(there, axis)[1])
                here = there
        return links + list(self.limiter(destination))

    def edges(self) -> Iterator[Edge]:
        """Yield every cable as an edge of a drawing, except from a host to itself in a dimension of one host."""
        for host in range(self.places):
            for axis, size in enumerate(self.dimensions):
                if size > 1:
                    other = self.neighbour(host, axis, 1)
                    yield Edge(self.place(host), self.place(other), tuple(dict.fromkeys(self.cable(host, axis))))
