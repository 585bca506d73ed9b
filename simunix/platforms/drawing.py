"""Draw a platform (SVG, PNG, PDF): hosts, switches, and the capacities of the links between them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from rsg_server.platform.platform import Platform
from rsg_server.whole_files import unwritten, whole_path
from simunix.platforms.sketch import Node, graph_label, sketch

if TYPE_CHECKING:
    import networkx
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png", ".pdf")
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22")
STYLES: Mapping[str, Mapping[str, str]] = {
    "host": {"boxstyle": "round,pad=0.25", "facecolor": "#eaf2fb", "edgecolor": "#4a78a8"},
    "switch": {"boxstyle": "square,pad=0.35", "facecolor": "#fff3d6", "edgecolor": "#b8860b"},
    "link": {"boxstyle": "round4,pad=0.15", "facecolor": "#f2f2f2", "edgecolor": "#999999"},
}
LAYERED_MAX = 8  # a graph with more layers is not a tree of switches
KAMADA_MAX = 250
Places = dict[str, tuple[float, float]]


def draw_platform(platform: Platform, path: Path, title: str) -> None:
    """Draw a platform into a file, in the format that the ending of the file's name says.

    Raises SimunixError for a platform that cannot be drawn, and if the file cannot be written.
    """
    if path.suffix.lower() not in FORMATS:
        raise SimunixError(f"{path}: expected a picture's name that ends in {', '.join(FORMATS)}")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    graph = sketch(platform)
    places = _layout(graph)
    width, height = _size(graph, places)
    with mpl.rc_context({"svg.hashsalt": "simunix", "svg.fonttype": "none"}):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(title, fontsize=11)
        axes.axis("off")
        axes.margins(0.08)
        _draw_edges(axes, graph, places)
        _draw_nodes(axes, graph, places)
        try:
            with whole_path(path) as draft:
                figure.savefig(draft, dpi=130, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
        except OSError as error:
            raise SimunixError(unwritten(path, error, "choose another place")) from None


def _size(graph: networkx.Graph[str], places: Places) -> tuple[float, float]:
    """Return the width and height of the picture in inches, so that labels fit beside each other, in rows or, without
    rows, in a cloud.
    """
    widths = {name: 0.09 * max(map(len, graph_label(graph, name).splitlines())) + 0.4 for name in graph}
    rows: dict[float, float] = {}
    for name, (_, y) in places.items():
        rows[round(y, 3)] = rows.get(round(y, 3), 0.0) + widths[name]
    layered = len(rows) <= LAYERED_MAX
    cloud = len(graph) ** 0.5 * sum(widths.values()) / max(1, len(graph)) * 1.7
    width = min(60.0, max(7.0, max(rows.values(), default=0.0) + 1 if layered else cloud))
    return width, min(40.0, max(5.0, 1.5 * len(rows) + 1)) if layered else max(5.5, width * 0.6)


def _kind(graph: networkx.Graph[str], name: str) -> str:
    node: Node = graph.nodes[name]["node"]
    return node.kind


def _layout(graph: networkx.Graph[str]) -> Places:
    """Return the places of hosts and switches: trees of switches in layers above their hosts, other graphs by distances
    in the graph.
    """
    import networkx

    hosts = [name for name in graph if _kind(graph, name) == "host"]
    leaves_only = all(graph.degree[name] <= 1 for name in hosts)
    if leaves_only and hosts:
        layer = networkx.multi_source_dijkstra_path_length(graph, set(hosts), weight=lambda *_: 1)
        same_layer = any(layer.get(a) == layer.get(b) for a, b in graph.edges)
        if len(layer) == len(graph) and max(layer.values()) <= LAYERED_MAX and not same_layer:
            return _layers(graph, layer)
    if len(graph) <= KAMADA_MAX and networkx.is_connected(graph):
        found = networkx.kamada_kawai_layout(graph)
    else:
        found = networkx.spring_layout(graph, seed=1, iterations=100)
    return {name: (float(place[0]), float(place[1])) for name, place in found.items()}


def _layers(graph: networkx.Graph[str], layer: Mapping[str, float]) -> Places:
    """Return places in rows of equal width, from the top down; the nodes of a row stand in the order of the nodes above
    them.
    """
    places: Places = {}
    rows: dict[int, list[str]] = {}
    for name in graph:
        rows.setdefault(int(layer[name]), []).append(name)
    for height in sorted(rows, reverse=True):
        above = {name: [places[other][0] for other in graph[name] if other in places] for name in rows[height]}
        order = sorted(rows[height], key=lambda name: sum(above[name]) / len(above[name]) if above[name] else 0.0)
        for position, name in enumerate(order):
            places[name] = ((position + 0.5) / len(order), height / max(1, max(rows)))
    return places


def _draw_edges(axes: Axes, graph: networkx.Graph[str], places: Places) -> None:
    """Draw the links with a colour for each capacity, explained in the legend; label each link if there are too many."""
    from matplotlib.lines import Line2D

    kinds = list(dict.fromkeys(data["capacity"] for _, _, data in graph.edges(data=True) if data["capacity"]))
    told = len(kinds) <= len(COLOURS)
    colours = dict(zip(kinds, COLOURS, strict=False)) if told else {}
    for one, other, data in graph.edges(data=True):
        (x1, y1), (x2, y2) = places[one], places[other]
        capacity = data["capacity"]
        style: dict[str, Any] = {"color": colours.get(capacity, "#555555"), "linewidth": 1.4, "zorder": 1}
        axes.plot([x1, x2], [y1, y2], linestyle="-" if capacity else ":", **style)
        if capacity and not told:
            axes.text((x1 + x2) / 2, (y1 + y2) / 2, capacity, fontsize=6, ha="center", va="center", zorder=2, color="#333333")
    if told and kinds:
        lines = [Line2D([], [], color=colours[kind], label=kind) for kind in kinds]
        axes.legend(handles=lines, loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=2, fontsize=8, frameon=False)


def _draw_nodes(axes: Axes, graph: networkx.Graph[str], places: Places) -> None:
    small = 8 if len(graph) < 60 else 6
    for name, (x, y) in places.items():
        node: Node = graph.nodes[name]["node"]
        # a dollar sign would begin a formula
        label = node.label.replace("$", r"\$")
        axes.text(x, y, label, fontsize=small, ha="center", va="center", zorder=3, bbox=dict(STYLES[node.kind]))
