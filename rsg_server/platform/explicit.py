"""Zones of a platform whose routes are written one by one (SimGrid's Full), or that have no routes (SimGrid's None)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from rsg_server.platform.link import Link
from rsg_server.platform.zone import LINK_NODE, LOOPBACK, Edge, Leg, NetPoint, Zone


class RoutedZone(Zone):
    """A zone with written routes: `legs[source, destination]`, where both are indices of the zone's points.

    A leg is the part of a route inside of one zone.
    """

    def __init__(self, name: str, parent: Zone | None = None, where: str = "", simgrid_compat: bool = False) -> None:
        super().__init__(name, parent, where, simgrid_compat)
        self.legs: dict[tuple[int, int], Leg] = {}

    def add_route(self, source: NetPoint, destination: NetPoint, leg: Leg) -> None:
        """Add a route in one direction. Raises ValueError if the zone has one for these two points already."""
        if self.legs.setdefault((source.index, destination.index), leg) is not leg:
            raise ValueError(f"a route from {source.name} to {destination.name} is there already (routes are symmetrical)")

    def loop(self, point: NetPoint) -> Leg:
        """Return the route from a host to itself: as it is written, or the default loopback."""
        return self.legs.get((point.index, point.index)) or Leg((LOOPBACK,))

    def _drawn(self) -> Iterator[tuple[str, str, Leg, Leg]]:
        """Yield, for each two points that a written route joins, their names, and the legs there and back, which may be
        the same.
        """
        for (source, destination), leg in sorted(self.legs.items()):
            if source == destination or (source > destination and (destination, source) in self.legs):
                continue
            ends = (leg.leaves or self.points[source], leg.enters or self.points[destination])
            yield ends[0].name, ends[1].name, leg, self.legs.get((destination, source), leg)

    def edges(self) -> Iterator[Edge]:
        """Yield the edges of a drawing of the zone.

        A link that is the whole of one route, and in no other route, is an edge between the ends of this route. All
        other links are drawn as nodes.
        """
        uses = Counter(link for _, _, leg, _ in self._drawn() for link in leg.links)
        for one, other, leg, back in self._drawn():
            if len(leg.links) == 1 and uses[leg.links[0]] == 1:
                yield Edge(one, other, tuple(dict.fromkeys(leg.links + back.links)))
                continue
            for before, after in pairwise([one, *(LINK_NODE + link.name for link in leg.links), other]):
                yield Edge(before, after, ())

    def links_at(self, node: str) -> tuple[Link, ...]:
        """Return the link that a node of a drawing stands for, in a tuple; () if the node is no link."""
        return tuple(link for link in self.links if LINK_NODE + link.name == node)


class FullZone(RoutedZone):
    """A zone in which every pair of points that communicates has a written route (SimGrid's routing "Full")."""

    def local_route(self, source: NetPoint, destination: NetPoint) -> Leg:
        """Return the written route between two points. As in SimGrid, a missing route counts as one without links."""
        if source is destination:
            return self.loop(source)
        leg = self.legs.get((source.index, destination.index))
        if leg is not None:
            return leg
        if self.simgrid_compat:
            return Leg(())
        raise self.no_route(source, destination)


class EmptyZone(Zone):
    """A zone in which no two points are connected (SimGrid's routing "None")."""

    def local_route(self, source: NetPoint, destination: NetPoint) -> Leg:
        """Return the loopback of a host. Raises NoRouteError for two different points."""
        if self.simgrid_compat:
            return Leg(())
        if source is destination:
            return Leg((LOOPBACK,))
        raise self.no_route(source, destination)


def reversed_leg(leg: Leg, links: tuple[Link, ...]) -> Leg:
    """Return the leg in the opposite direction, over the given links."""
    return replace(leg, links=links, leaves=leg.enters, enters=leg.leaves)
