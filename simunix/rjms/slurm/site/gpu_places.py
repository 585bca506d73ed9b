"""Find the NUMA nodes of the GPUs on a site's hosts, from Cores= in gres.conf; see gres.conf(5).

Slurm numbers the cores of a node from 0, socket by socket, without threads. A host whose GPUs are bound to cores gets a
NUMA node for each socket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from simunix.ranges import expand_hosts
from simunix.rjms.slurm.files.gres import GPU
from simunix.rjms.slurm.files.lines import Line, whole_number
from simunix.rjms.slurm.site.changes import Change
from simunix.rjms.slurm.site.conf import SiteConf, SiteNode
from simunix.scenario.device_section import NODES_MOST, devices_most

SPREAD = "kept in gres.conf; hosts' GPUs are spread over the NUMA nodes, as"
Place = tuple[str, int, int | None]
"""The type and number of GPUs, and their NUMA node if it is a single one."""


class UnplacedError(Exception):
    """The error that a line of gres.conf determines no NUMA node; its text is the reason."""


def place_gpus(conf: SiteConf, lines: Sequence[Line]) -> None:
    """Set the NUMA nodes of the GPUs of all hosts for which gres.conf gives cores."""
    of_gpus = [line for line in lines if line.value("name").lower() == GPU and line.value("file")]
    for line in of_gpus:
        if not line.value("cores"):
            continue
        named = frozenset(line.hosts("nodename"))
        for node in conf.nodes:
            if (named & {*node.names} or not named) and node.names not in conf.gpu_places and node.gpus:
                _place(conf, node, line, of_gpus)


def _place(conf: SiteConf, node: SiteNode, first: Line, lines: Iterable[Line]) -> None:
    try:
        found = {_places(node, name, lines) for name in node.names}
        if len(found) > 1:
            raise UnplacedError("it says else of other nodes of one NodeName line")
        places = found.pop()
        _check(node, places)
    except UnplacedError as reason:
        change = Change(first.place, f"Cores={first.value('cores')}", f"{SPREAD} {reason}")
        conf.changes += [change] if change not in conf.changes else []
    else:
        conf.gpu_places[node.names] = places


def _places(node: SiteNode, name: str, lines: Iterable[Line]) -> tuple[Place, ...]:
    """Return the GPUs of one host with their NUMA nodes, in the order of the lines."""
    found = []
    for line in lines:
        if not line.value("nodename") or name in line.hosts("nodename"):
            found.append((line.value("type"), _count(line), _numa_node(node, line)))
    return tuple(found)


def _count(line: Line) -> int:
    try:
        # a list of files is read as a host list, because it has the same ranges
        files = len(expand_hosts(line.value("file").replace("/", "x")))
    except ValueError:
        raise UnplacedError("File= is no list of files") from None
    return whole_number(line.value("count"), f"{line.place}: Count") if files == 1 and line.value("count") else files


def _numa_node(node: SiteNode, line: Line) -> int | None:
    """Return the NUMA node that has all cores in a line's Cores=; None if the line names all cores of the node or none."""
    if not line.value("cores"):
        return None
    cores, all_cores = _cores(line.value("cores")), node.sockets * node.cores_per_socket
    if max(cores) >= all_cores:
        raise UnplacedError(f"{node.names[0]} has the cores 0 to {all_cores - 1}")
    sockets = {core // node.cores_per_socket for core in cores}
    if len(sockets) > 1 and len(cores) < all_cores:
        raise UnplacedError(f"these cores are on {len(sockets)} of the sockets of {node.names[0]}")
    return sockets.pop() if len(sockets) == 1 else None


def _cores(text: str) -> set[int]:
    try:
        return {int(name[1:]) for name in expand_hosts(f"c[{text.strip().strip('[]')}]")}
    except ValueError:
        raise UnplacedError("this is no list of cores such as 0-7,16-23") from None


def _check(node: SiteNode, places: Sequence[Place]) -> None:
    """Raise UnplacedError if slurm.conf has another number of GPUs, or if there are too few PCI buses for them."""
    counted: Counter[str] = Counter()
    for kind, count, _ in places:
        counted[kind] += count
    has_types = any(kind for kind, _ in node.gpus)
    told = Counter(dict(node.gpus)) if has_types else Counter({"": sum(count for _, count in node.gpus)})
    if (counted if has_types else Counter({"": counted.total()})) != told:
        raise UnplacedError(f"slurm.conf has other GPUs on {node.names[0]}")
    if node.sockets > NODES_MOST:
        raise UnplacedError(f"{node.names[0]} has more than {NODES_MOST} sockets")
    at_nodes = Counter[int | None]()
    for _, count, numa in places:
        at_nodes[numa] += count
    if max(at_nodes.values()) > devices_most(node.sockets):
        raise UnplacedError(f"a NUMA node of {node.names[0]} has buses for {devices_most(node.sockets)}")
