"""The base class of clusters with a regular shape (torus, fat tree, dragonfly): hosts, loopbacks, limiters of nodes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, SharingPolicy
from rsg_server.platform.power import LinkPower
from rsg_server.platform.zone import LOOPBACK, Leg, NetPoint, Zone


@dataclass(frozen=True, slots=True)
class LinkKind:
    """The properties that all links of a cluster share. If `policy` is None, each direction is a link with watts of its own."""

    bandwidth_bytes_per_s: float
    latency_s: float
    policy: SharingPolicy | None = None
    power: LinkPower | None = None

    def make(self, name: str, times: int = 1) -> tuple[Link, Link]:
        """Return the links up and down that stand for `times` parallel cables: two if split duplex, else one for both ways."""
        bandwidth, power = self.bandwidth_bytes_per_s * times, self.power.times(times) if self.power is not None else None
        if self.policy is not None:
            link = Link(name, bandwidth, self.latency_s, self.policy, power)
            return link, link
        up, down = (Link(f"{name}_{way}", bandwidth, self.latency_s, power=power) for way in ("UP", "DOWN"))
        return up, down


@dataclass(frozen=True, slots=True)
class ClusterLinks:
    """The links of a cluster: between its parts, from a host to itself, and the limiter of a node's whole traffic."""

    cables: LinkKind
    loopback: LinkKind | None = None
    limiter_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Numbers:
    """The counters that SimGrid keeps for a whole file. Names of links and routes of its fat trees depend on them."""

    cables: int = 0
    fat_tree_hosts: int = 0


class TopologyZone(Zone):
    """A cluster whose routes follow from the numbers of its hosts. A link is made when it is first needed, and then kept.

    The cluster may have more places than hosts; then the last places are empty.
    """

    def __init__(
        self,
        name: str,
        parent: Zone | None,
        hosts: Sequence[Host],
        links: ClusterLinks,
        host_label: Callable[[int], str] = str,
        where: str = "",
        simgrid_compat: bool = False,
    ) -> None:
        super().__init__(name, parent, where, simgrid_compat)
        self.cluster_links = links
        self._label = host_label
        self._made: dict[object, tuple[Link, Link]] = {}
        self.places = len(hosts)
        for host in hosts:
            self.add_host(host)

    def made(self, key: object, name: Callable[[], str], times: int = 1) -> tuple[Link, Link]:
        """Return the links up and down of a cable; the first call for a cable makes the links."""
        pair = self._made.get(key)
        if pair is None:
            pair = self._made[key] = self.cluster_links.cables.make(name(), times)
        return pair

    def loopback(self, index: int) -> Link | None:
        """Return the loopback link of a host; None if the cluster has no loopbacks."""
        kind = self.cluster_links.loopback
        if kind is None:
            return None
        key = ("loopback", index)
        if key not in self._made:
            name = f"{self.name}_link_{self._label(index)}_loopback"
            self._made[key] = LinkKind(kind.bandwidth_bytes_per_s, kind.latency_s, SharingPolicy.FATPIPE).make(name)
        return self._made[key][0]

    def limiter(self, node: int, switch: bool = False) -> tuple[Link, ...]:
        """Return the limiter of a node as a tuple of one link, or of none.

        Switches are numbered from twice the number of hosts downwards.
        """
        limit = self.cluster_links.limiter_bytes_per_s
        if limit is None:
            return ()
        key = ("limiter", node, switch)
        if key not in self._made:
            label = f"switch{node}" if switch and node < self.places else str(node)  # here SimGrid ends with an error
            self._made[key] = LinkKind(limit, 0.0, SharingPolicy.SHARED).make(f"{self.name}_link_{label}_limiter")
        return (self._made[key][0],)

    def local_route(self, source: NetPoint, destination: NetPoint) -> Leg:
        """Return the route between two hosts by the rule of the topology; a host reaches itself through its loopback."""
        if source.host is None or destination.host is None:
            raise self.no_route(source, destination)
        if source is destination:
            own = self.loopback(source.index)
            if own is not None or not self.simgrid_compat:
                return Leg((own or LOOPBACK,))
        return Leg(tuple(self.path(source.index, destination.index)), source, destination)

    def all_links(self) -> Iterator[Link]:
        """Yield all links: cables, loopbacks, limiters of hosts and of switches."""
        yield from dict.fromkeys(link for edge in self.edges() for link in edge.links)
        yield from filter(None, map(self.loopback, range(len(self.points))))
        switches = sum(1 for _ in self.switches())
        for node in range(self.places):
            yield from self.limiter(node)
        for node in range(2 * self.places - 1, 2 * self.places - 1 - switches, -1):
            yield from self.limiter(node, True)

    def place(self, index: int) -> str:
        """Return the name of the host at a place, or a name for an empty place."""
        return self.points[index].name if index < len(self.points) else f"{self.name} place {index}"

    @abstractmethod
    def path(self, source: int, destination: int) -> list[Link]:
        """Return the links from one host to another, both given by their numbers."""


class Shape(Protocol):
    """The sizes of the parts of a cluster with a regular shape."""

    @property
    def hosts(self) -> int:
        """The number of hosts for which the shape has places."""


ShapeT = TypeVar("ShapeT", bound=Shape)


class ShapedZone(TopologyZone, Generic[ShapeT]):
    """A cluster with as many places as its shape has hosts. SimGrid numbers the cables through all such clusters of a file."""

    def __init__(
        self,
        name: str,
        parent: Zone | None,
        hosts: Sequence[Host],
        shape: ShapeT,
        links: ClusterLinks,
        host_label: Callable[[int], str] = str,
        numbers: Numbers | None = None,
        where: str = "",
        simgrid_compat: bool = False,
    ) -> None:
        super().__init__(name, parent, hosts, links, host_label, where, simgrid_compat)
        self.shape = shape
        self.places = shape.hosts
        self._numbers = numbers or Numbers()
