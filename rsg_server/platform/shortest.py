"""Zones in which written routes are joined to longer routes: SimGrid's routings Floyd and Dijkstra.

Floyd minimises the number of links, as SimGrid's manual and program agree. Dijkstra minimises latency, as the manual
says; SimGrid's program minimises the number of links in Dijkstra zones, too, and `simgrid_compat` repeats that. Nothing
is computed before a route is asked for, and then only for its source. A table of all pairs is never made.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from dataclasses import dataclass

from rsg_server.platform.explicit import RoutedZone
from rsg_server.platform.link import Link
from rsg_server.platform.zone import Leg, NetPoint, Zone, find_route

Cost = float | tuple[float, int]


class GraphZone(RoutedZone):
    """A zone in which the written routes are the edges of a graph, and a route is a path in the graph."""

    def __init__(self, name: str, parent: Zone | None = None, where: str = "", simgrid_compat: bool = False) -> None:
        super().__init__(name, parent, where, simgrid_compat)
        self.out: dict[int, list[int]] = {}

    def add_route(self, source: NetPoint, destination: NetPoint, leg: Leg) -> None:
        """Add a written route as an edge. Raises ValueError if the zone has an edge for these two points already."""
        super().add_route(source, destination, leg)
        self.out.setdefault(source.index, []).append(destination.index)
        self.out.setdefault(destination.index, [])

    @abstractmethod
    def previous(self, source: int, destination: int) -> int | None:
        """Return the point before the destination on the path from the source; None if there is no path."""

    def local_route(self, source: NetPoint, destination: NetPoint) -> Leg:
        """Return the leg along a path: its edges, and between two edges the route from the gateway of one to that of
        the next.
        """
        if source is destination:
            return self.loop(source)
        path: list[Leg] = []
        here = destination.index
        while here != source.index:
            before = self.previous(source.index, here)
            if before is None:
                raise self.no_route(source, destination)
            path.append(self.legs[before, here])
            here = before
        path.reverse()
        return self._joined(path)

    @staticmethod
    def _joined(path: list[Leg]) -> Leg:
        links: list[Link] = []
        distance_s = 0.0
        entered: NetPoint | None = None
        for leg in path:
            if entered is not None and leg.leaves is not None and entered is not leg.leaves:
                inside = find_route(entered, leg.leaves)
                links += inside.links
                distance_s += inside.distance_s
            links += leg.links
            entered = leg.enters
        return Leg(tuple(links), path[0].leaves, path[-1].enters, distance_s)


class DijkstraZone(GraphZone):
    """The routings Dijkstra and DijkstraCache: the path of least latency (with `simgrid_compat`, of fewest links).

    The paths from a source are computed once and then kept.
    """

    def __init__(self, name: str, parent: Zone | None = None, where: str = "", simgrid_compat: bool = False) -> None:
        super().__init__(name, parent, where, simgrid_compat)
        self._trees: dict[int, dict[int, int]] = {}
        self._ranks: dict[int, int] | None = None

    def previous(self, source: int, destination: int) -> int | None:
        """Return the point before the destination on the path from the source, by the source's tree of shortest paths;
        None if there is none.
        """
        if source not in self._trees:
            self._trees[source] = self._tree(source)
        return self._trees[source].get(destination)

    def _cost(self, leg: Leg) -> tuple[float, int]:
        """Return the cost of an edge: its latency (0 with `simgrid_compat`), then its number of links."""
        return (0.0 if self.simgrid_compat else sum(link.latency_s for link in leg.links), len(leg.links))

    def _tree(self, source: int) -> dict[int, int]:
        """Return each point's predecessor on the shortest paths from the source.

        As in SimGrid, points of equal cost are visited in the order in which the written routes first mention them.
        """
        rank = {point: position for position, point in enumerate(self.out)}
        costs: dict[int, tuple[float, int]] = {source: (0.0, 0)}
        before: dict[int, int] = {}
        queue = [((0.0, 0), rank.get(source, 0), source)]
        while queue:
            cost, _, here = heapq.heappop(queue)
            if cost > costs[here]:
                continue
            for there in self.out.get(here, ()):
                latency_s, hops = self._cost(self.legs[here, there])
                reached = (cost[0] + latency_s, cost[1] + hops)
                if there != source and (there not in costs or reached < costs[there]):
                    costs[there] = reached
                    before[there] = here
                    heapq.heappush(queue, (reached, rank[there], there))
        return before


@dataclass(frozen=True, slots=True)
class _Paths:
    """The paths from one source: for each reachable point, the highest intermediate point on its path.

    -1 says that the path is a single edge.
    """

    highest: dict[int, int]


class FloydZone(GraphZone):
    """The routing Floyd: the path of fewest links; of several, the one that the three loops of Floyd's algorithm find first.

    The loops admit points as intermediate ones in their order, and keep the first path of least cost. So the path from
    a to b goes through c, the least possible highest intermediate point. The predecessor of b is that of the path from
    c to b, whose own intermediate points are all below c. A path is computed only when its route is needed.
    """

    def __init__(self, name: str, parent: Zone | None = None, where: str = "", simgrid_compat: bool = False) -> None:
        super().__init__(name, parent, where, simgrid_compat)
        self._paths: dict[int, _Paths] = {}

    def previous(self, source: int, destination: int) -> int | None:
        """Return the point before the destination on the path from the source; None if there is no path.

        The search goes to the highest intermediate point, and on from there, until the rest of the path is one edge.
        """
        while True:
            if source not in self._paths:
                self._paths[source] = self._shortest(source)
            highest = self._paths[source].highest.get(destination)
            if highest is None or highest == -1:
                return None if highest is None else source
            source = highest

    def _shortest(self, source: int) -> _Paths:
        """Compute the paths from a source in the order of their cost; the last edge of a path adds one link or more."""
        costs = {source: 0}
        highest: dict[int, int] = {}
        queue = [(0, source)]
        settled: set[int] = set()
        while queue:
            cost, here = heapq.heappop(queue)
            if here in settled:
                continue
            settled.add(here)
            passed = -1 if here == source else max(highest[here], here)
            for there in self.out.get(here, ()):
                reached = cost + len(self.legs[here, there].links)
                if there not in costs or reached < costs[there]:
                    costs[there] = reached
                    highest[there] = passed
                    heapq.heappush(queue, (reached, there))
                elif reached == costs[there] and there != source:
                    highest[there] = min(highest[there], passed)
        return _Paths(highest)
