"""Floyd and Dijkstra give the paths that the textbooks' algorithms give, computed without a table of all pairs."""

from __future__ import annotations

import math
from ipaddress import IPv4Address
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.platform.errors import NoRouteError
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link
from rsg_server.platform.shortest import DijkstraZone, FloydZone, GraphZone
from rsg_server.platform.zone import Leg, NetPoint

Edges = dict[tuple[int, int], tuple[int, int]]  # from, to: number of links, latency of each
EDGES = st.integers(2, 7).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.dictionaries(
            st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda pair: pair[0] != pair[1]),
            st.tuples(st.integers(1, 3), st.integers(1, 9)),
        ),
    )
)


def filled(zone: GraphZone, size: int, edges: Edges) -> list[NetPoint]:
    points = [zone.add_host(Host(f"h{index}", (IPv4Address("10.0.0.1") + index,))) for index in range(size)]
    for (one, other), (count, latency) in edges.items():
        links = tuple(Link(f"{one}-{other}.{piece}", 1e9, float(latency)) for piece in range(count))
        zone.add_route(points[one], points[other], Leg(links))
    return points


def floyds_loops(size: int, edges: Edges) -> tuple[list[list[float]], list[list[int]]]:
    """As in SimGrid: costs are numbers of links; the first path of least cost is kept."""
    cost = [[math.inf] * size for _ in range(size)]
    before = [[-1] * size for _ in range(size)]
    for (one, other), (count, _) in edges.items():
        cost[one][other], before[one][other] = count, one
    for index in range(size):
        cost[index][index], before[index][index] = 1, index
    for middle in range(size):
        for one in range(size):
            for other in range(size):
                through = cost[one][middle] + cost[middle][other]
                if through < cost[one][other]:
                    cost[one][other], before[one][other] = through, before[middle][other]
    return cost, before


@given(EDGES)
def test_floyd_takes_the_path_that_the_three_loops_find(graph: tuple[int, Edges]) -> None:
    size, edges = graph
    zone = FloydZone("z")
    points = filled(zone, size, edges)
    cost, before = floyds_loops(size, edges)
    for one in range(size):
        for other in range(size):
            if one == other:
                continue
            if cost[one][other] == math.inf:
                with pytest.raises(NoRouteError):
                    zone.local_route(points[one], points[other])
                continue
            path = [other]
            while path[-1] != one:
                path.append(before[one][path[-1]])
            path.reverse()
            hops = list(dict.fromkeys(link.name.split(".")[0] for link in zone.local_route(points[one], points[other]).links))
            assert hops == [f"{a}-{b}" for a, b in pairwise(path)]


@given(EDGES, st.booleans())
def test_dijkstra_takes_a_path_of_least_cost(graph: tuple[int, Edges], simgrid_compat: bool) -> None:
    size, edges = graph
    zone = DijkstraZone("z", simgrid_compat=simgrid_compat)
    points = filled(zone, size, edges)
    least = [[0.0 if one == other else math.inf for other in range(size)] for one in range(size)]
    for (one, other), (count, latency) in edges.items():
        least[one][other] = count if simgrid_compat else count * latency
    for middle in range(size):
        for one in range(size):
            for other in range(size):
                least[one][other] = min(least[one][other], least[one][middle] + least[middle][other])
    for one in range(size):
        for other in range(size):
            if one == other:
                continue
            if least[one][other] == math.inf:
                with pytest.raises(NoRouteError):
                    zone.local_route(points[one], points[other])
                continue
            links = zone.local_route(points[one], points[other]).links
            assert (len(links) if simgrid_compat else sum(link.latency_s for link in links)) == least[one][other]
