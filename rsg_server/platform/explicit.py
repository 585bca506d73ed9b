"""Zones whose routes are written one by one: Full and None."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from rsg_server.platform.link import Link
from rsg_server.platform.zone import LOOPBACK, Leg, NetPoint, Wire, Zone


class RoutedZone(Zone):
    """Holds the written routes: `legs[source index, destination index]`."""

    def __init__(self, name: str, parent: Zone | None = None, where: str = "", simgrid_compat: bool = False) -> None:
        super().__init__(name, parent, where, simgrid_compat)
        self.legs: dict[tuple[int, int], Leg] = {}

    def add_route(self, source: NetPoint, destination: NetPoint, leg: Leg) -> None:
        """One direction. ValueError if it is there already."""
        if self.legs.setdefault((source.index, destination.index), leg) is not leg:
            raise ValueError(f"a route from {source.name} to {destination.name} is there already (routes are symmetrical)")

    def loop(self, point: NetPoint) -> Leg:
        """From a host to itself: as written, or the default."""
        return self.legs.get((point.index, point.index)) or Leg((LOOPBACK,))

    def wires(self) -> Iterator[Wire]:
        """A route of one link that nobody else uses joins its ends; other links are drawn as nodes of their own."""
        pairs = {tuple(sorted(pair)): leg for pair, leg in sorted(self.legs.items(), reverse=True) if pair[0] != pair[1]}
        uses = Counter(link for leg in pairs.values() for link in leg.links)
        drawn: set[frozenset[str]] = set()
        for (source, destination), leg in sorted(pairs.items()):
            ends = (self._end(leg.leaves, source), self._end(leg.enters, destination))
            if (leg.leaves or leg.enters) and not self.points[source].inside:
                ends = (ends[1], ends[0])
            back = self.legs.get((destination, source))
            if len(leg.links) == 1 and uses[leg.links[0]] == 1:
                both = leg.links if back is None or back.links == leg.links else leg.links + back.links
                yield Wire(*ends, both)
                continue
            nodes = [ends[0], *(link.name for link in leg.links), ends[1]]
            for position, (one, other) in enumerate(pairwise(nodes)):
                if frozenset((one, other)) not in drawn:
                    drawn.add(frozenset((one, other)))
                    link = leg.links[min(position, len(leg.links) - 1)]
                    yield Wire(one, other, (link,))

    def _end(self, gateway: NetPoint | None, index: int) -> str:
        return gateway.name if gateway else self.points[index].name


class FullZone(RoutedZone):
    """Every pair that is to communicate has a route of its own."""

    def local_route(self, source: NetPoint, destination: NetPoint) -> Leg:
        """As written. SimGrid takes a missing route for one without links."""
        if source is destination:
            return self.loop(source)
        leg = self.legs.get((source.index, destination.index))
        if leg is not None:
            return leg
        if self.simgrid_compat:
            return Leg(())
        raise self.no_route(source, destination)


class EmptyZone(Zone):
    """Routing "None": no two points are connected."""

    def local_route(self, source: NetPoint, destination: NetPoint) -> Leg:
        """Only a host with itself."""
        if self.simgrid_compat:
            return Leg(())
        if source is destination:
            return Leg((LOOPBACK,))
        raise self.no_route(source, destination)


def reversed_leg(leg: Leg, links: tuple[Link, ...]) -> Leg:
    """The same way back, over the links given."""
    return replace(leg, links=links, leaves=leg.enters, enters=leg.leaves)
