"""Makes the C solver of rates (csrc/network/) usable from Python.

`MaxMin` is a system of max-min fair sharing; `SharedLinks` has the links and routes of a platform in a solver.
"""

from __future__ import annotations

from collections.abc import Sequence

from rsg_server._network import ffi, lib
from rsg_server.network.models import ACKNOWLEDGEMENTS, Model
from rsg_server.platform.link import Link, Route, SharingPolicy


class MaxMin:
    """A max-min fair system of links and variables, for tests and for sharing other things than a network, e.g. a
    host's cores.
    """

    def __init__(self) -> None:
        self._system = ffi.gc(lib.maxmin_new(), lib.maxmin_free)

    def add_link(self, capacity: float, is_fat_pipe: bool = False, concurrency: int = -1) -> int:
        """Add a link with a capacity, and return its number."""
        return int(lib.maxmin_add_link(self._system, capacity, is_fat_pipe, concurrency))

    def add(self, weights: Sequence[tuple[int, float]], penalty: float = 1.0, bound: float = float("inf")) -> int:
        """Add a variable that uses the given (link, weight) pairs, and return its number.

        The variable gets its share at once.
        """
        links = [link for link, _ in weights]
        variable = lib.maxmin_add(self._system, len(links), links, [weight for _, weight in weights], penalty, bound)
        lib.maxmin_switch_on(self._system, variable)
        return int(variable)

    def remove(self, variable: int) -> None:
        """Remove a variable; a later variable may get the number of the removed one."""
        lib.maxmin_remove(self._system, variable)

    def set_capacity(self, link: int, capacity: float) -> None:
        """Give a link another capacity."""
        lib.maxmin_set_capacity(self._system, link, capacity)

    def set_terms(self, variable: int, penalty: float, bound: float) -> None:
        """Give a variable another penalty and another bound."""
        lib.maxmin_set_terms(self._system, variable, penalty, bound)

    def solve(self) -> list[int]:
        """Compute the rates anew, and return the variables whose rates have changed."""
        count = lib.maxmin_solve(self._system)
        return list(ffi.unpack(lib.maxmin_changed(self._system), count)) if count else []

    def rate(self, variable: int) -> float:
        """Return the rate of a variable, as of the last call of `solve`."""
        return float(lib.maxmin_rate(self._system, variable))

    def load(self, link: int) -> float:
        """Return how much of a link's capacity is used, as of the last call of `solve`."""
        return float(lib.maxmin_load(self._system, link))

    @property
    def work(self) -> int:
        """The number of rates that the solver has computed, over all calls of `solve`."""
        return int(lib.maxmin_work(self._system))


class SharedLinks:
    """The links and routes of a platform in a C struct network.

    Each link and each route is added to the C struct when it is first used.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        crossing = ACKNOWLEDGEMENTS if model.cross_traffic else 0.0
        self.net = ffi.gc(lib.network_new(model.weight_s, model.tcp_gamma, crossing), lib.network_free)
        if model.shares_bottlenecks:
            lib.network_share_bottlenecks(self.net)
        self.links: dict[str, int] = {}

    def link(self, link: Link) -> int:
        """Return the number of a link in the C library."""
        number = self.links.get(link.name)
        if number is None:
            policy, concurrency = self._policy(link), self.model.concurrency
            if policy == lib.LINK_DISK:
                concurrency = -1
            number = lib.network_add_link(self.net, link.bandwidth_bytes_per_s, link.latency_s, policy, concurrency)
            self.links[link.name] = number
        return number

    def _policy(self, link: Link) -> int:
        if link.policy is SharingPolicy.DISK:
            return int(lib.LINK_DISK)
        is_fat = link.policy is SharingPolicy.FATPIPE or not self.model.shares
        return int(lib.LINK_FAT_PIPE if is_fat else lib.LINK_SHARED)

    def task(self, uses: Sequence[tuple[Link, float]], latency_s: float) -> int:
        """Return the number, in the C library, of what a parallel task uses: an amount of each of several links."""
        links = [self.link(link) for link, _ in uses]
        return int(lib.network_add_task(self.net, len(links), links, [weight for _, weight in uses], latency_s))

    def route(self, there: Route, back: Route) -> int:
        """Add a route to the C library, with the way back that acknowledgements take, and return its number."""
        links = [self.link(link) for link in there.links]
        returning = [self.link(link) for link in back.links]
        return int(lib.network_add_route(self.net, len(links), links, len(returning), returning, there.distance_s))
