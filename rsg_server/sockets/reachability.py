"""Decides whether packets get from one host to another now: hosts may be off, links down; there may be partitions and loss."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.network.network import Network
    from rsg_server.platform.host import Host

Hosts = frozenset[str]
Cut = tuple[Hosts, Hosts]


class Reachability:
    """Knows which hosts are off, which links are down, and which partitions and losses there are.

    While there are none of these (`is_whole`), the server need not look up routes.
    """

    def __init__(self, network: Network, seed: int) -> None:
        self._network = network
        self._random = random.Random(f"loss {seed}")
        self.off: set[str] = set()
        self.cuts: list[Cut] = []
        self.pair_loss: dict[Cut, float] = {}
        self.link_loss: dict[str, float] = {}

    @property
    def is_whole(self) -> bool:
        """Whether a packet gets from every host to every other host."""
        return not (self.off or self.cuts or self._network.down)

    def reaches(self, source: Host, destination: Host) -> bool:
        """Return whether a packet that is on its way now arrives. A host that is on always gets its packets to itself."""
        if self.is_whole:
            return True
        names = (source.name, destination.name)
        if self.off.intersection(names):
            return False
        return source is destination or self.connects(source, destination)

    def connects(self, source: Host, destination: Host) -> bool:
        """Return whether the network lets a packet pass between two hosts, whether these are on or off."""
        names = (source.name, destination.name)
        if any(is_between(cut, *names) for cut in self.cuts):
            return False
        down = self._network.down
        return not down or all(link.name not in down for link in self._network.route(source, destination).links)

    def loses(self, source: Host, destination: Host) -> bool:
        """Return whether this datagram is lost; must be called once for each datagram.

        The function uses up a random number only if datagrams between these hosts may be lost.
        """
        if not (self.pair_loss or self.link_loss) or source is destination:
            return False
        kept = 1.0
        for pair, rate in self.pair_loss.items():
            if is_between(pair, source.name, destination.name):
                kept *= 1.0 - rate
        if self.link_loss:
            for link in self._network.route(source, destination).links:
                kept *= 1.0 - self.link_loss.get(link.name, 0.0)
        return kept < 1.0 and self._random.random() >= kept


def is_between(cut: Cut, source: str, destination: str) -> bool:
    """Return whether two hosts are on different sides of a partition."""
    one, other = cut
    return (source in one and destination in other) or (source in other and destination in one)
