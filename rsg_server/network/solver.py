"""The C solver (csrc/network/) for Python: systems of max-min fair sharing, and the links and routes of a platform in them."""

from __future__ import annotations

from collections.abc import Sequence

from rsg_server._network import ffi, lib
from rsg_server.network.models import ACKNOWLEDGEMENTS, Model
from rsg_server.platform.link import Link, Route, SharingPolicy


class MaxMin:
    """A system of links and variables, for tests and for sharing something else than a network, such as a host's cores."""

    def __init__(self) -> None:
        self._system = ffi.gc(lib.maxmin_new(), lib.maxmin_free)

    def add_link(self, capacity: float, is_fat_pipe: bool = False, concurrency: int = -1) -> int:
        """Add a link; returns its number."""
        return int(lib.maxmin_add_link(self._system, capacity, is_fat_pipe, concurrency))

    def add(self, weights: Sequence[tuple[int, float]], penalty: float = 1.0, bound: float = float("inf")) -> int:
        """Add a variable that uses these (link, weight), switched on; returns its number."""
        links = [link for link, _ in weights]
        variable = lib.maxmin_add(self._system, len(links), links, [weight for _, weight in weights], penalty, bound)
        lib.maxmin_switch_on(self._system, variable)
        return int(variable)

    def remove(self, variable: int) -> None:
        """Remove a variable; its number may be given to another one."""
        lib.maxmin_remove(self._system, variable)

    def set_capacity(self, link: int, capacity: float) -> None:
        """Give a link another capacity."""
        lib.maxmin_set_capacity(self._system, link, capacity)

    def set_terms(self, variable: int, penalty: float, bound: float) -> None:
        """Give a variable another penalty and bound."""
        lib.maxmin_set_terms(self._system, variable, penalty, bound)

    def solve(self) -> list[int]:
        """Compute the rates anew; returns the variables whose rates have changed."""
        count = lib.maxmin_solve(self._system)
        return list(ffi.unpack(lib.maxmin_changed(self._system), count)) if count else []

    def rate(self, variable: int) -> float:
        """The rate of a variable, as of the last solve."""
        return float(lib.maxmin_rate(self._system, variable))

    def load(self, link: int) -> float:
        """What is used of a link, as of the last solve."""
        return float(lib.maxmin_load(self._system, link))

    @property
    def work(self) -> int:
        """How many variables the solver has computed a rate for, over all calls."""
        return int(lib.maxmin_work(self._system))


class SharedLinks:
    """The links and routes of a platform in a network of the C library, added when they are first used."""

    def __init__(self, model: Model) -> None:
        self.model = model
        crossing = ACKNOWLEDGEMENTS if model.cross_traffic else 0.0
        self.net = ffi.gc(lib.network_new(model.weight_s, model.tcp_gamma, crossing), lib.network_free)
        if model.shares_bottlenecks:
            lib.network_share_bottlenecks(self.net)
        self.links: dict[str, int] = {}

    def link(self, link: Link) -> int:
        """The number of a link in the C library."""
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
        """The number of what a parallel task uses of each link, in the C library."""
        links = [self.link(link) for link, _ in uses]
        return int(lib.network_add_task(self.net, len(links), links, [weight for _, weight in uses], latency_s))

    def route(self, there: Route, back: Route) -> int:
        """The number of a new route in the C library, with the way back that acknowledgements take."""
        links = [self.link(link) for link in there.links]
        returning = [self.link(link) for link in back.links]
        return int(lib.network_add_route(self.net, len(links), links, len(returning), returning, there.distance_s))
