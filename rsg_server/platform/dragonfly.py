"""Dragonfly topologies as in Cray's Cascade, with minimal routes, numbered as in SimGrid 3.32 (DragonflyZone.cpp).

A dragonfly consists of groups; a group consists of chassis, a chassis of routers (blades), and hosts are joined to a
router. Green cables join all routers of a chassis. Black cables join the routers of a group that have the same place in
their chassis. Blue cables join the groups: router n of a group, counted through its chassis, leads to group n. SimGrid
3.32 forgets which chassis a route is in when the route takes a green cable. So some routes miss a black cable, or take
one that leads nowhere; `simgrid_compat` repeats that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from rsg_server.platform.link import Link
from rsg_server.platform.topology import ShapedZone
from rsg_server.platform.zone import Edge


@dataclass(frozen=True, slots=True)
class DragonflyShape:
    """The sizes of a dragonfly: the number of groups, of chassis per group, and so on; and the parallel cables of each
    colour.
    """

    groups: int
    chassis: int
    routers: int
    hosts_per_router: int
    blue_cables: int = 1
    black_cables: int = 1
    green_cables: int = 1

    @property
    def hosts(self) -> int:
        """The number of hosts in the dragonfly."""
        return self.groups * self.chassis * self.routers * self.hosts_per_router


@dataclass(frozen=True, slots=True)
class Router:
    """The place of a router in a dragonfly: its group, its chassis in the group, and its number in the chassis."""

    group: int
    chassis: int
    blade: int


def pairs(count: int) -> int:
    """Return the number of pairs that `count` things form."""
    return count * (count - 1) // 2


def pair_number(low: int, high: int, count: int) -> int:
    """Return the index of the pair (low, high) in the list (0,1), (0,2), ..., (1,2), ..."""
    return low * (2 * count - low - 1) // 2 + high - low - 1


class DragonflyZone(ShapedZone[DragonflyShape]):
    """A dragonfly. A route takes at most a green, a black, a blue, a green and a black link, in this order."""

    @property
    def _first_green(self) -> int:
        return self.shape.hosts

    @cached_property
    def _first_black(self) -> int:
        return self._first_green + self.shape.groups * self.shape.chassis * pairs(self.shape.routers)

    @cached_property
    def _first_blue(self) -> int:
        return self._first_black + self.shape.groups * pairs(self.shape.chassis) * self.shape.routers

    @property
    def cables(self) -> int:
        """The number of links of the dragonfly; parallel cables are one link."""
        return self._first_blue + pairs(self.shape.groups)

    def router_of(self, host: int) -> Router:
        """Return the router to which a host is joined."""
        router = host // self.shape.hosts_per_router
        group, rest = divmod(router, self.shape.chassis * self.shape.routers)
        return Router(group, *divmod(rest, self.shape.routers))

    def number(self, router: Router) -> int:
        """Return the number of a router, counted through all groups."""
        return (router.group * self.shape.chassis + router.chassis) * self.shape.routers + router.blade

    def gate(self, group: int, other: int) -> Router:
        """Return the router of a group whose blue link leads to another group."""
        return Router(group, *divmod(other, self.shape.routers))

    def local(self, host: int) -> tuple[Link, Link]:
        """Return the two links between a host and its router: up and down."""
        router, node = divmod(host, self.shape.hosts_per_router)
        unique = self._numbers.cables + host
        return self.made(("local", host), lambda: f"local_link_from_router_{router}_to_node_{node}_{unique}")

    def green(self, router: Router, blade: int) -> Link:
        """Return the green link from a router to another one of its chassis."""
        low, high = sorted((router.blade, blade))
        chassis = router.group * self.shape.chassis + router.chassis
        number = self._first_green + chassis * pairs(self.shape.routers) + pair_number(low, high, self.shape.routers)
        unique = self._numbers.cables + number

        def name() -> str:
            return f"green_link_in_chassis_{router.chassis}_between_routers_{low}_and_{high}_{unique}"

        return self.made(number, name, self.shape.green_cables)[router.blade > blade]

    def black(self, router: Router, chassis: int) -> Link:
        """Return the black link from a router to the one at the same place in another chassis of its group."""
        low, high = sorted((router.chassis, chassis))
        pair = router.group * pairs(self.shape.chassis) + pair_number(low, high, self.shape.chassis)
        number = self._first_black + pair * self.shape.routers + router.blade
        unique = self._numbers.cables + number

        def name() -> str:
            where = f"in_group_{router.group}_between_chassis_{low}_and_{high}_blade_{router.blade}"
            return f"black_link_{where}_{unique}"

        return self.made(number, name, self.shape.black_cables)[router.chassis > chassis]

    def blue(self, group: int, other: int) -> Link:
        """Return the blue link from a group to another group."""
        low, high = sorted((group, other))
        number = self._first_blue + pair_number(low, high, self.shape.groups)
        routers = f"{self.number(self.gate(low, high))}_and_{self.number(self.gate(high, low))}"
        unique = self._numbers.cables + number

        def name() -> str:
            return f"blue_link_between_group_{low}_and_{high}_routers_{routers}_{unique}"

        return self.made(number, name, self.shape.blue_cables)[group > other]

    def path(self, source: int, destination: int) -> list[Link]:
        """Return the links of the minimal route between two hosts.

        SimGrid numbers the limiters of routers downwards from twice the number of hosts.
        """
        here, target = self.router_of(source), self.router_of(destination)
        links = [*self.limiter(source), self.local(source)[0]]
        if here.group != target.group:
            links += self._within_group(here, self.gate(here.group, target.group))
            links += [self.blue(here.group, target.group), *self._router_limiter(self.gate(here.group, target.group))]
            here = self.gate(target.group, here.group)
        links += self._within_group(here, target, self.simgrid_compat)
        links += [*self._router_limiter(target), self.local(destination)[1], *self.limiter(destination)]
        return links

    def _within_group(self, here: Router, there: Router, forget_chassis: bool = False) -> list[Link]:
        """Return the links of a route within a group: a green one, then a black one, each if needed."""
        links: list[Link] = []
        if here == there:
            return links
        if here.blade != there.blade:
            links += [*self._router_limiter(here), self.green(here, there.blade)]
            here = Router(here.group, 0 if forget_chassis else here.chassis, there.blade)
        if here.chassis != there.chassis:
            links += [*self._router_limiter(here), self.black(here, there.chassis)]
        return links

    def _router_limiter(self, router: Router) -> tuple[Link, ...]:
        return self.limiter(2 * self.shape.hosts - 1 - self.number(router), True)

    def _routers(self) -> Iterator[Router]:
        for group in range(self.shape.groups):
            for chassis in range(self.shape.chassis):
                for blade in range(self.shape.routers):
                    yield Router(group, chassis, blade)

    def _switch(self, router: Router) -> str:
        return f"{self.name} router {router.group}.{router.chassis}.{router.blade}"

    def switches(self) -> Iterator[str]:
        """Yield the names of the routers, group by group."""
        return map(self._switch, self._routers())

    def edges(self) -> Iterator[Edge]:
        """Yield the edges of a drawing: the links of hosts, then the green, black and blue ones."""
        for host in range(self.places):
            yield Edge(self.place(host), self._switch(self.router_of(host)), tuple(dict.fromkeys(self.local(host))))
        for router in self._routers():
            for blade in range(router.blade + 1, self.shape.routers):
                other = Router(router.group, router.chassis, blade)
                yield self._edge(router, other, self.green(router, blade), self.green(other, router.blade))
            for chassis in range(router.chassis + 1, self.shape.chassis):
                other = Router(router.group, chassis, router.blade)
                yield self._edge(router, other, self.black(router, chassis), self.black(other, router.chassis))
        for low, high in combinations(range(self.shape.groups), 2):
            yield self._edge(self.gate(low, high), self.gate(high, low), self.blue(low, high), self.blue(high, low))

    def _edge(self, one: Router, other: Router, up: Link, down: Link) -> Edge:
        return Edge(self._switch(one), self._switch(other), tuple(dict.fromkeys((up, down))))
