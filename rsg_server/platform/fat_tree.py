"""Fat trees with d-mod-k routing, numbered as in SimGrid 3.32 (FatTreeZone.cpp).

See E. Zahavi, "D-Mod-K Routing Providing Non-Blocking Traffic for Shift Permutations on Real Life Fat Trees", 2010. A
node of level l has a label of one digit per level. A switch of level l + 1 is joined to the nodes of level l whose
labels equal its own in all digits but digit l.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod

from rsg_server.platform.link import Link
from rsg_server.platform.topology import ShapedZone
from rsg_server.platform.zone import Edge


@dataclass(frozen=True, slots=True)
class FatTreeShape:
    """The sizes of each level of a fat tree, the lowest first: children of a switch, parents of a node, parallel cables."""

    down: tuple[int, ...]
    up: tuple[int, ...]
    cables: tuple[int, ...]

    @property
    def levels(self) -> int:
        """The number of levels that consist of switches."""
        return len(self.down)

    @property
    def hosts(self) -> int:
        """The number of hosts in the fat tree."""
        return prod(self.down)

    def nodes(self, level: int) -> int:
        """Return the number of nodes in a level: hosts in level 0, switches above."""
        return prod(self.up[:level]) * prod(self.down[level:])

    def radix(self, level: int) -> tuple[int, ...]:
        """Return the base of each digit of the labels of a level."""
        return self.up[:level] + self.down[level:]

    def label(self, level: int, position: int) -> tuple[int, ...]:
        """Return the digits of the label at a position of a level, the lowest first."""
        digits = []
        for base in self.radix(level):
            position, digit = divmod(position, base)
            digits.append(digit)
        return tuple(digits)

    def position(self, level: int, label: Sequence[int]) -> int:
        """Return the position of a label in its level; the inverse of `label`."""
        position = 0
        for digit, base in zip(reversed(label), reversed(self.radix(level)), strict=True):
            position = position * base + digit
        return position


Node = tuple[int, int]  # (level, position in the level)


class FatTreeZone(ShapedZone[FatTreeShape]):
    """A fat tree.

    A route goes up to the lowest switch above both hosts; the destination's number chooses each parent on the way.
    """

    @cached_property
    def _first_cable(self) -> list[int]:
        """The number of the first cable of each level, and at the end the number of all cables."""
        counts = (
            self.shape.nodes(level) * self.shape.up[level] * self.shape.cables[level] for level in range(self.shape.levels)
        )
        return list(accumulate(counts, initial=0))

    @property
    def cables(self) -> int:
        """The number of cables in the fat tree."""
        return self._first_cable[-1]

    def number(self, node: Node) -> int:
        """Return the number that SimGrid gives a node: hosts from 0 upwards, switches from twice the number of hosts
        downwards.
        """
        level, position = node
        below = sum(self.shape.nodes(lower) for lower in range(1, level))
        return position if level == 0 else 2 * self.shape.hosts - 1 - below - position

    def cable(self, child: Node, upper_digit: int, cable: int) -> tuple[Link, Link]:
        """Return the links up and down between a node and the parent whose label has the digit `upper_digit`."""
        level, position = child
        up, parallel = self.shape.up[level], self.shape.cables[level]
        number = self._first_cable[level] + (position * up + upper_digit) * parallel + cable

        def name() -> str:
            parent = self.parent_of(child, upper_digit)
            unique = self._numbers.cables + number
            return f"link_from_{self.number(child)}_{self.number(parent)}_{unique}"

        return self.made(number, name)

    def parent_of(self, child: Node, digit: int) -> Node:
        """Return the switch above a node whose label has the given digit at the node's level."""
        level, position = child
        label = list(self.shape.label(level, position))
        label[level] = digit
        return level + 1, self.shape.position(level + 1, label)

    def path(self, source: int, destination: int) -> list[Link]:
        """Return the links of the route between two hosts, up and down.

        The way up is chosen by d-mod-k. On the way down, the source's number modulo the number of parallel cables
        chooses the cable.
        """
        shape = self.shape
        # SimGrid numbers the hosts of one tree after those of another
        counted = self._numbers.fat_tree_hosts if self.simgrid_compat else 0
        target = shape.label(0, destination)
        links: list[Link] = []
        node: Node = (0, source)
        spread = destination + counted
        while not self._is_below(node, target):
            level = node[0]
            turn = spread % (shape.up[level] * shape.cables[level])
            spread //= shape.up[level]
            links += self._limiter(node)
            links.append(self.cable(node, turn % shape.up[level], turn // shape.up[level])[0])
            node = self.parent_of(node, turn % shape.up[level])
        start = 0
        while node[0] > 0:
            links_down, node, start = self._step_down(node, target, source + counted, start)
            links += links_down
        return links + list(self._limiter(node))

    def _limiter(self, node: Node) -> tuple[Link, ...]:
        return self.limiter(self.number(node), node[0] > 0)

    def _is_below(self, node: Node, target: Sequence[int]) -> bool:
        """Return whether the host with a label is below a switch."""
        level, position = node
        return level > 0 and self.shape.label(level, position)[level:] == tuple(target[level:])

    def _step_down(self, node: Node, target: Sequence[int], source: int, start: int) -> tuple[list[Link], Node, int]:
        """Return the links of a step down, the node that it leads to, and the port.

        `start` is the port at which SimGrid's loop goes on.
        """
        level, position = node
        children, cables = self.shape.down[level - 1], self.shape.cables[level - 1]
        digit = target[level - 1]
        cable = source % cables
        if self.simgrid_compat and start:
            port = next((port for port in range(start, children * cables) if port % children == digit), None)
            cable = source % cables if port is None else port // children
        label = list(self.shape.label(level, position))
        upper_digit, label[level - 1] = label[level - 1], digit
        child = (level - 1, self.shape.position(level - 1, label))
        links = [self.cable(child, upper_digit, cable)[1], *self._limiter(node)]
        return links, child, cable * children + digit + 1

    def switch_name(self, node: Node) -> str:
        """Return the name of a switch in drawings."""
        return self.place(node[1]) if node[0] == 0 else f"{self.name} switch {node[0]}.{node[1]}"

    def switches(self) -> Iterator[str]:
        """Yield the names of the switches, level by level."""
        for level in range(1, self.shape.levels + 1):
            for position in range(self.shape.nodes(level)):
                yield self.switch_name((level, position))

    def _all_cables(self) -> Iterator[tuple[Node, int, int]]:
        for level in range(self.shape.levels):
            for position in range(self.shape.nodes(level)):
                for digit in range(self.shape.up[level]):
                    for cable in range(self.shape.cables[level]):
                        yield (level, position), digit, cable

    def edges(self) -> Iterator[Edge]:
        """Yield all cables as edges of a drawing."""
        for child, digit, cable in self._all_cables():
            links = tuple(dict.fromkeys(self.cable(child, digit, cable)))
            yield Edge(self.switch_name(child), self.switch_name(self.parent_of(child, digit)), links)
