"""A network on its own: flows that start at given moments of a clock in seconds, and when they finish."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Protocol

from rsg_server._network import ffi, lib
from rsg_server.network.models import Model
from rsg_server.network.solver import SharedLinks
from rsg_server.platform.link import Link, Route, SharingPolicy
from rsg_server.platform.zone import LOOPBACK

PRECISION_S = 1e-12
"""Events that are closer than this are one instant."""
SIMGRID_PRECISION_S = 1e-9
"""SimGrid's precision/timing, used in its compatible mode."""


NO_GATES: Mapping[str, Link] = MappingProxyType({})


class State(Enum):
    """What has become of a flow."""

    WAITING = lib.TRANSFER_WAITING
    LATENCY = lib.TRANSFER_LATENCY
    MOVING = lib.TRANSFER_MOVING
    DONE = lib.TRANSFER_DONE
    FAILED = lib.TRANSFER_FAILED
    CANCELLED = lib.TRANSFER_CANCELLED


class FindRoute(Protocol):
    """The route from one named host to another."""

    def __call__(self, source: str, destination: str, /) -> Route: ...


class FlowEngine:
    """Moves flows over the links of a platform, by a model; its clock is `now_s`.

    `gates` are links that the flows of single hosts cross besides, at both ends (rsg_server.network.changes).
    """

    def __init__(
        self, find_route: FindRoute, model: Model, compatible: bool = False, gates: Mapping[str, Link] = NO_GATES
    ) -> None:
        self._find_route = find_route
        self._gates = gates
        self._model = model
        self._shared = SharedLinks(model, compatible)
        default = SIMGRID_PRECISION_S if compatible else PRECISION_S
        window = default if model.timing_s is None else model.timing_s
        self._engine = ffi.gc(lib.engine_new(self._shared.net, window), lib.engine_free)
        self._routes: dict[tuple[str, str], int] = {}
        self._loopback = Route(
            (Link(LOOPBACK.name, model.loopback_bytes_per_s, model.loopback_latency_s, SharingPolicy.FATPIPE),)
        )

    def _route(self, source: str, destination: str) -> int:
        number = self._routes.get((source, destination))
        if number is None:
            there = self._find_route(source, destination)
            back = self._find_route(destination, source) if self._model.cross_traffic else there
            if source == destination and there.links in ((), (LOOPBACK,)):
                there = back = self._loopback
            doors = [self._gates[name] for name in dict.fromkeys((source, destination)) if name in self._gates]
            number = self._shared.route(Route((*there.links, *doors), there.distance_s), back)
            self._routes[source, destination] = number
        return number

    def start(
        self, source: str, destination: str, size_bytes: float, time_s: float, rate: float | None = None, weight: float = 1.0
    ) -> int:
        """A flow that begins at `time_s`, not in the past; its number. Flows of one moment begin in the order of these calls.

        It never has more than `rate` bytes per second, and `weight` times the share of an ordinary flow.
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

    @property
    def now_s(self) -> float:
        """The clock."""
        return float(lib.engine_now(self._engine))

    @property
    def unfinished(self) -> int:
        """How many flows have not ended."""
        return int(lib.engine_unfinished(self._engine))

    @property
    def next_s(self) -> float:
        """When something happens next; infinite if nothing does."""
        return float(lib.engine_next(self._engine))

    def advance(self, moment_s: float, inclusive: bool = True) -> int:
        """Let everything happen until a moment (inclusive or not), and be there; how many flows have ended."""
        return int(lib.engine_advance(self._engine, moment_s, inclusive))

    def cancel(self, flow: int) -> None:
        """End it now, if it has not ended."""
        lib.engine_cancel(self._engine, flow)

    def state(self, flow: int) -> State:
        """What has become of it."""
        return State(lib.engine_state(self._engine, flow))

    def finish_s(self, flow: int) -> float:
        """When it ended; infinite if it has not."""
        return float(lib.engine_finish(self._engine, flow))

    def remaining_bytes(self, flow: int) -> float:
        """What it has still to move."""
        return float(lib.engine_remaining(self._engine, flow))

    def rate(self, flow: int) -> float:
        """Bytes per second, now."""
        return float(lib.engine_rate(self._engine, flow))

    def change(self, what: str, link: Link, value: float) -> None:
        """Change a link now; see rsg_server.network.changes.LinkChange."""
        CHANGES[what](self._engine, self._shared.link(link), value)


CHANGES: dict[str, Callable[..., None]] = {
    "bandwidth": lib.engine_set_bandwidth,
    "latency": lib.engine_set_latency,
    "state": lambda engine, link, value: lib.engine_set_state(engine, link, value > 0),
}
