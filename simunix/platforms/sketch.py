"""Convert a platform to a graph of hosts, switches and links for drawing. Many equal hosts at one switch become one
node.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from rsg_server.platform.link import Link
from rsg_server.platform.platform import Platform
from rsg_server.platform.zone import LINK_NODE, Zone
from simunix.platforms.formatting import capacity, some

if TYPE_CHECKING:
    import networkx

NODES_MAX = 600
HOSTS_EACH_MAX = 40
TOGETHER_MIN = 2


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the graph: its kind (host, switch, link) and its label."""

    kind: str
    label: str


def capacities(links: tuple[Link, ...]) -> str:
    """Return the capacities of the links of a cable as a text; equal directions of a split-duplex link are mentioned
    once.
    """
    texts = list(dict.fromkeys(capacity(link) for link in links))
    duplex = len(links) == 2 and len(texts) == 1 and links[0].name.endswith("_UP")
    return " + ".join(texts) + (" each way" if duplex else "")


def sketch(platform: Platform) -> networkx.Graph[str]:
    """Return the graph of a platform: nodes have the attribute `node`, edges have `capacity`. Raises SimunixError if
    the platform is too large to draw.
    """
    import networkx

    root = platform.description.root
    if root is None:
        raise SimunixError("this platform has no zones to draw")
    graph: networkx.Graph[str] = networkx.Graph()
    if len(platform.hosts) > 100_000:
        raise SimunixError(f"{len(platform.hosts):,} hosts are too many to draw; draw a smaller platform of the same shape")
    for zone in root.family():
        _add_zone(graph, zone)
    for host in platform.hosts:
        graph.add_node(host.name, node=Node("host", host.name))
    _shorten(graph, root)
    _put_together(graph, len(platform.hosts))
    if len(graph) > NODES_MAX:
        text = f"{len(graph):,} hosts and switches are too many to draw (at most {NODES_MAX})"
        raise SimunixError(f"{text}; draw a smaller platform of the same shape")
    return graph


def _add_zone(graph: networkx.Graph[str], zone: Zone) -> None:
    for wire in zone.edges():
        if wire.one == wire.other:
            continue
        for end in (wire.one, wire.other):
            if end not in graph:
                graph.add_node(end, node=_node(zone, end))
        graph.add_edge(wire.one, wire.other, capacity=capacities(wire.links))
    for point in zone.points:
        if point.inside is None and point.name not in graph and point.host is None:
            graph.add_node(point.name, node=Node("switch", point.name))


def _shorten(graph: networkx.Graph[str], root: Zone) -> None:
    """Shorten labels: remove the common ending (domain) of the hosts' names, and the only zone's name from the
    switches' names.
    """
    names = [name for name in graph if graph.nodes[name]["node"].kind == "host"]
    domains = {name[name.find(".") :] if "." in name else "" for name in names}
    domain = domains.pop() if len(domains) == 1 else ""
    zones = [zone.name for zone in root.family() if next(zone.switches(), None) is not None]
    for name in graph:
        node: Node = graph.nodes[name]["node"]
        if node.kind == "host" and domain:
            graph.nodes[name]["node"] = Node("host", name.removesuffix(domain))
        elif node.kind == "switch" and len(zones) == 1:
            graph.nodes[name]["node"] = Node("switch", node.label.removeprefix(f"{zones[0]} "))


def _node(zone: Zone, name: str) -> Node:
    links = zone.links_at(name)
    label = "\n".join([name.removeprefix(LINK_NODE), *(capacity(link) for link in links)])
    return Node("link" if name.startswith(LINK_NODE) else "switch", label)


def graph_label(graph: networkx.Graph[str], name: str) -> str:
    """Return the label of a node."""
    node: Node = graph.nodes[name]["node"]
    return node.label


def _put_together(graph: networkx.Graph[str], hosts: int) -> None:
    """Replace hosts with equal links to one switch by one node, if there are more than `hosts`."""
    if hosts <= HOSTS_EACH_MAX:
        return
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in list(graph):
        if graph.nodes[name]["node"].kind == "host" and graph.degree[name] == 1:
            (neighbour,) = graph[name]
            groups[neighbour, graph.edges[name, neighbour]["capacity"]].append(name)
    for (neighbour, edge_capacity), names in groups.items():
        if len(names) >= TOGETHER_MIN:
            labels = [graph_label(graph, name) for name in names]
            graph.nodes[names[0]]["node"] = Node("host", f"{some(labels, 1)}\n({len(names)} hosts)")
            graph.edges[names[0], neighbour]["capacity"] = edge_capacity
            graph.remove_nodes_from(names[1:])
