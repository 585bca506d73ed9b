"""A network without emulated hosts: flows start at given moments of a clock in seconds, and finish."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Protocol

from rsg_server._network import ffi, lib
from rsg_server.network.models import Model
from rsg_server.network.solver import SharedLinks
from rsg_server.platform.disk import Direction, Disk
from rsg_server.platform.link import Link, Route, SharingPolicy
from rsg_server.platform.zone import LOOPBACK

PRECISION_S = 1e-12
"""Events that are at most so many seconds apart happen at one moment."""
SIMGRID_PRECISION_S = 1e-9
"""SimGrid's default of precision/timing, in seconds, which takes the place of PRECISION_S in the mode that follows SimGrid."""

NO_GATES: Mapping[str, Link] = MappingProxyType({})


class FlowState(Enum):
    """The states of a flow; csrc/network/engine.h explains them."""

    WAITING = lib.TRANSFER_WAITING
    LATENCY = lib.TRANSFER_LATENCY
    MOVING = lib.TRANSFER_MOVING
    DONE = lib.TRANSFER_DONE
    FAILED = lib.TRANSFER_FAILED
    CANCELLED = lib.TRANSFER_CANCELLED
    HELD = lib.TRANSFER_HELD


class FindRoute(Protocol):
    """A function that returns the route from one host to another, given by their names."""

    def __call__(self, source: str, destination: str, /) -> Route: ...


class FlowEngine:
    """Moves flows over the links of a platform, by a flow model; `now_s` is its own clock, in seconds.

    `gates` are further links, which the flows from and to a host cross, by the host's name (see
    rsg_server.network.changes). `shared` are links on which other code (the network of the emulation) has flows as
    well; that code calls `share` and `others`.
    """

    def __init__(
        self,
        find_route: FindRoute,
        model: Model,
        compatible: bool = False,
        gates: Mapping[str, Link] = NO_GATES,
        shared: SharedLinks | None = None,
    ) -> None:
        self._find_route = find_route
        self._gates = gates
        self._model = model
        self._shared = shared or SharedLinks(model)
        default = SIMGRID_PRECISION_S if compatible else PRECISION_S
        window = default if model.timing_s is None else model.timing_s
        self._engine = ffi.gc(lib.engine_new(self._shared.net, window, compatible), lib.engine_free)
        self._routes: dict[tuple[str, str], int] = {}
        self._disk_routes: dict[tuple[str, str, Direction], int] = {}
        self._cores: dict[str, int] = {}
        loopback = f"{LOOPBACK.name} of {model.name}"  # the other users of shared links may have another loopback
        self._loopback = Route((Link(loopback, model.loopback_bytes_per_s, model.loopback_latency_s, SharingPolicy.FATPIPE),))

    def _links(self, source: str, destination: str) -> tuple[Route, Route]:
        """Return the route from host to host, and the route back."""
        there = self._find_route(source, destination)
        back = self._find_route(destination, source) if self._model.cross_traffic else there
        if source == destination and there.links in ((), (LOOPBACK,)):
            there = back = self._loopback
        doors = [self._gates[name] for name in dict.fromkeys((source, destination)) if name in self._gates]
        return Route((*there.links, *doors), there.distance_s), back

    def _route(self, source: str, destination: str) -> int:
        number = self._routes.get((source, destination))
        if number is None:
            number = self._shared.route(*self._links(source, destination))
            self._routes[source, destination] = number
        return number

    def start(
        self, source: str, destination: str, size_bytes: float, time_s: float, rate: float | None = None, weight: float = 1.0
    ) -> int:
        """Add a flow that begins at `time_s`, or now if that moment is past. Return the flow's number.

        Flows of one moment begin in the order of these calls. A flow never has more than `rate` bytes per second, and
        has `weight` times the share of an ordinary flow.
        """
        model = self._model
        return int(
            lib.engine_add(
                self._engine,
                self._route(source, destination),
                max(time_s, self.now_s),
                size_bytes,
                model.latency_factor.of(size_bytes),
                model.bandwidth_factor.of(size_bytes),
                rate or 0.0,
                weight,
            )
        )

    def operate(
        self, host_name: str, disk: Disk, direction: Direction, size_bytes: float, time_s: float, weight: float = 1.0
    ) -> int:
        """Add an operation on a disk of a host, and return its number.

        The operation waits for the disk's latency, then moves its bytes.
        """
        route = self._disk_routes.get((host_name, disk.name, direction))
        if route is None:
            route = self._shared.route(disk.route(host_name, direction), Route(()))
            self._disk_routes[host_name, disk.name, direction] = route
        return int(lib.engine_add(self._engine, route, max(time_s, self.now_s), size_bytes, 1.0, 1.0, 0.0, weight))

    def stream(
        self,
        source: str,
        read: Disk | None,
        destination: str,
        written: Disk | None,
        size_bytes: float,
        time_s: float,
    ) -> int:
        """Add a flow that is read from a disk of its source, or written to one of its destination, while it moves.

        The flow is Io::streamto of SimGrid; see `start`. The size is what the disks move, whatever the bandwidth factor
        of the links. Return the flow's number.
        """
        there, back = self._links(source, destination)
        disks = [read.route(source, Direction.READ)] if read is not None else []
        disks += [written.route(destination, Direction.WRITE)] if written is not None else []
        links = (*there.links, *(link for route in disks for link in route.links))
        number = self._shared.route(Route(links, there.distance_s), back)
        latency, bandwidth = self._model.latency_factor.of(size_bytes), self._model.bandwidth_factor.of(size_bytes)
        start_s = max(time_s, self.now_s)
        return int(lib.engine_add(self._engine, number, start_s, size_bytes, latency, bandwidth, 0.0, 1.0))

    @property
    def now_s(self) -> float:
        """The time of the engine's clock, in seconds."""
        return float(lib.engine_now(self._engine))

    @property
    def unfinished(self) -> int:
        """The number of flows that have not ended."""
        return int(lib.engine_unfinished(self._engine))

    @property
    def next_s(self) -> float:
        """The time of the next event, in seconds; infinity if nothing is due."""
        return float(lib.engine_next(self._engine))

    def advance(self, moment_s: float, inclusive: bool = True) -> int:
        """Move the clock to a moment (s), and let all events before it happen, also those at it if `inclusive`.

        Return how many flows have ended.
        """
        return int(lib.engine_advance(self._engine, moment_s, inclusive))

    def tell_ends(self) -> None:
        """From now on, record the flows that end, so that `ends` can return them."""
        lib.engine_tell_ends(self._engine)

    def ends(self) -> list[int]:
        """Return the numbers of the flows that have ended since the last call, in that order.

        `tell_ends` must have been called before.
        """
        found = []
        while (flow := lib.engine_take_end(self._engine)) >= 0:
            found.append(int(flow))
        return found

    def share(self) -> None:
        """Compute all rates anew, because the flows of the other code on shared links have changed."""
        lib.engine_share(self._engine)

    def others(self) -> list[int]:
        """Return the flows of the other code on shared links whose rates have changed since the last call, by their numbers."""
        found = []
        while (flow := lib.engine_take_other(self._engine)) >= 0:
            found.append(int(flow))
        return found

    def compute(self, cores: Link, flops: float, weight: float, bound: float | None = None) -> int:
        """Add an execution that begins now, as a flow over a link that stands for the cores of a host. Return its number.

        The bandwidth of that link is the speed of all cores in flop/s; it has no latency. `bound` is the speed of one
        core, or less.
        """
        number = self._cores.get(cores.name)
        if number is None:
            number = self._cores[cores.name] = self._shared.route(Route((cores,)), Route(()))
        return int(lib.engine_add(self._engine, number, self.now_s, flops, 1.0, 1.0, bound or 0.0, weight))

    def reserve(self, link: Link, amount: float) -> None:
        """Take a part of a link's bandwidth away from flows, from now on.

        The bounds of flows, which come from their windows, are as if the link had its whole bandwidth.
        """
        lib.engine_reserve(self._engine, self._shared.link(link), amount)

    def path(self, source: str, destination: str) -> Route:
        """Return the route of a flow from host to host."""
        return self._links(source, destination)[0]

    def task(self, uses: Sequence[tuple[Link, float]], latency_s: float, bound: float = 0.0) -> int:
        """Add a parallel task that begins now: after its latency, it uses an amount of several links at a time. Return
        its number.

        The task's size is 1, or 0 if it uses nothing; `bound` is the part of the task that it does per second at most,
        0: no bound. Only for a flow model that shares by bottlenecks.
        """
        number = self._shared.task(uses, latency_s)
        return int(lib.engine_add(self._engine, number, self.now_s, float(bool(uses)), 1.0, 1.0, bound, 1.0))

    def hold(self, flow: int) -> None:
        """Stop a flow that has begun: neither its latency passes nor its bytes move until `go_on`."""
        lib.engine_hold(self._engine, flow)

    def go_on(self, flow: int) -> None:
        """Let a flow go on that `hold` has stopped."""
        lib.engine_go_on(self._engine, flow)

    def set_weight(self, flow: int, weight: float) -> None:
        """Give a flow another weight, from now on."""
        lib.engine_set_weight(self._engine, flow, weight)

    def count_whole(self, flow: int) -> None:
        """Count what has moved of a flow in whole bytes whenever the clock moves, as SimGrid does for disks."""
        lib.engine_count_whole(self._engine, flow)

    def instant(self, moment_s: float) -> None:
        """Move the clock to a moment (s), before which nothing is due, and let everything happen that is due then."""
        lib.engine_instant(self._engine, moment_s)

    def cancel(self, flow: int) -> None:
        """End a flow now, unless it has ended."""
        lib.engine_cancel(self._engine, flow)

    def state(self, flow: int) -> FlowState:
        """Return the state of a flow."""
        return FlowState(lib.engine_state(self._engine, flow))

    def is_done(self, flow: int) -> bool:
        """Return whether a flow has moved all of its bytes."""
        return bool(lib.engine_state(self._engine, flow) == lib.TRANSFER_DONE)

    def is_held(self, flow: int) -> bool:
        """Return whether `hold` has stopped a flow."""
        return bool(lib.engine_state(self._engine, flow) == lib.TRANSFER_HELD)

    def finish_s(self, flow: int) -> float:
        """Return the time at which a flow ended, in seconds; infinity if it has not ended."""
        return float(lib.engine_finish(self._engine, flow))

    def remaining_bytes(self, flow: int) -> float:
        """Return how many bytes of a flow have not moved yet."""
        return float(lib.engine_remaining(self._engine, flow))

    def rate(self, flow: int) -> float:
        """Return the present rate of a flow, in bytes per second."""
        return float(lib.engine_rate(self._engine, flow))

    def change(self, what: str, link: Link, value: float) -> None:
        """Change a link now; the change is one of rsg_server.network.changes.LinkEvent."""
        CHANGES[what](self._engine, self._shared.link(link), value)


CHANGES: dict[str, Callable[..., None]] = {
    "bandwidth": lib.engine_set_bandwidth,
    "latency": lib.engine_set_latency,
    "state": lambda engine, link, value: lib.engine_set_state(engine, link, value > 0),
}
