"""The key `network:` of a scenario: a star, or another shape of a machine room's network."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from simunix.scenario.power_section import WattRanges, Watts, power_of_link
from simunix.scenario.section import Duration, HostList, Rate, Seconds, Section, host_names

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Policy = Literal["split-duplex", "shared", "fatpipe"]
EmulatedModel = Literal["LV08", "CM02", "constant", "raw"]
EMULATED_MODELS: tuple[str, ...] = get_args(EmulatedModel)
Coordinates = Annotated[list[float], Field(min_length=3, max_length=3)]


class ClusterSection(Section):
    """SimGrid's flat cluster: each host has a link of its own, followed by a backbone, if there is one. `limiter` is
    the bandwidth that a host may use for sending and receiving together.
    """

    backbone: Rate | None = None
    backbone_latency: Duration = 0
    backbone_policy: Literal["shared", "fatpipe"] = "shared"
    limiter: Rate | None = None


class FatTreeSection(Section):
    """A fat tree. For each level, from below: the children of a switch, the parents of a node, and the parallel cables
    between a node and its parent.
    """

    down: Annotated[list[Count], Field(min_length=1)]
    up: Annotated[list[Count], Field(min_length=1)]
    cables: list[Count] | None = None
    limiter: Rate | None = None

    @model_validator(mode="after")
    def _check(self) -> FatTreeSection:
        if not len(self.down) == len(self.up) == len(self.cables or self.down):
            raise ValueError("expected as many numbers in 'up' and 'cables' as in 'down', one for each level")
        return self


class DragonflySection(Section):
    """A dragonfly: groups of chassis of routers of hosts. The colours give the number of parallel cables of each link."""

    groups: Count
    chassis: Count = 1
    routers: Count
    hosts: Count
    blue: Count = 1
    black: Count = 1
    green: Count = 1
    limiter: Rate | None = None

    @model_validator(mode="after")
    def _check(self) -> DragonflySection:
        if self.groups > self.chassis * self.routers:
            raise ValueError(f"{self.groups} groups, but only {self.chassis * self.routers} routers of a group; add routers")
        return self


class TorusSection(Section):
    """A torus with the given size of each dimension."""

    dimensions: Annotated[list[Count], Field(min_length=1)]
    limiter: Rate | None = None


def _between(value: object) -> list[tuple[str, ...]]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"expected two ends such as ['node[1-8]', switch1], got {value!r}")
    one, other = (host_names(end) for end in value)
    if len(other) != 1:
        raise ValueError(f"expected one name as the second end, got {value[1]!r}")
    return [one, other]


class LinkSection(Section):
    """A link. With `between`, it connects two ends, and is the route from one to the other. If the first end is several
    hosts, each gets a link of its own, `NAME-HOST`.
    """

    name: str
    bandwidth: Rate
    latency: Seconds = 0.0
    policy: Policy = "split-duplex"
    wattage_range: WattRanges | None = None
    wattage_off: Watts | None = None
    between: Annotated[
        list[tuple[str, ...]] | None,
        BeforeValidator(_between),
        WithJsonSchema({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}),
    ] = None

    @model_validator(mode="after")
    def _check(self) -> LinkSection:
        power_of_link(self.wattage_range, self.wattage_off)
        return self


class RouteSection(Section):
    """The links of a route: `NAME` or, for a split-duplex link, `NAME:up` or `NAME:down`. `distance` is additional
    latency that belongs to no link.
    """

    model_config = ConfigDict(populate_by_name=True)

    from_: Annotated[str, Field(alias="from")]
    to: str
    links: Annotated[list[str], Field(min_length=1)]
    distance: Seconds = 0.0
    symmetrical: bool = True


SHAPES = ("cluster", "fat-tree", "dragonfly", "torus", "vivaldi", "links", "platform")


class NetworkSection(Section):
    """A star, in which each host has a full-duplex link of its own to one switch; or one other shape, whose cables have
    this bandwidth and latency. Hosts take the places of the shape in the order in which the scenario names them.

    `vivaldi` gives hosts coordinates (x, y and a height, in milliseconds). `links` and `routes` connect hosts and
    switches one by one. `platform` is a SimGrid platform file.

    Flows share links by SimGrid's `model` and `settings` (such as `network/TCP-gamma: 65536`). A flow is one
    connection, or all connections from one host to another together (`fair_per: hosts`).
    """

    model_config = ConfigDict(populate_by_name=True)

    bandwidth: Rate = 1.25e9
    latency: Duration = 25_000
    policy: Policy = "split-duplex"
    wattage_range: WattRanges | None = None
    wattage_off: Watts | None = None
    loopback_bandwidth: Rate = 1e10
    loopback_latency: Duration = 5_000
    cluster: ClusterSection | None = None
    fat_tree: Annotated[FatTreeSection | None, Field(alias="fat-tree")] = None
    dragonfly: DragonflySection | None = None
    torus: TorusSection | None = None
    vivaldi: dict[str, Coordinates] | None = None
    switches: HostList = ()
    links: Annotated[list[LinkSection] | None, Field(min_length=1)] = None
    routes: list[RouteSection] = []
    routing: Literal["dijkstra", "floyd", "full"] = "dijkstra"
    platform: str | None = None
    simgrid_compat: bool = False
    model: EmulatedModel = "LV08"
    settings: dict[str, str | float | bool] = {}
    fair_per: Literal["connection", "hosts"] = "connection"

    @property
    def shape(self) -> str:
        """The name of the network's shape; `star`, unless the section gives another shape."""
        return next((name for name in SHAPES if self._written(name) is not None), "star")

    def _written(self, name: str) -> Any:
        return getattr(self, name.replace("-", "_"))

    @model_validator(mode="after")
    def _check(self) -> NetworkSection:
        shapes = [name for name in SHAPES if self._written(name) is not None]
        if len(shapes) > 1:
            raise ValueError(f"expected one shape, got {' and '.join(shapes)}; keep one")
        if self.shape != "links" and (self.switches or self.routes):
            raise ValueError("switches and routes need links; add them")
        if self.simgrid_compat and self.shape not in ("links", "platform"):
            raise ValueError("simgrid_compat: is for 'links' and 'platform'; other shapes are as they should be, take it away")
        power = power_of_link(self.wattage_range, self.wattage_off)
        if power is not None and self.shape in ("links", "platform"):
            where = "each of network.links" if self.shape == "links" else "the links of the platform file"
            raise ValueError(f"wattage_range: is for the cables of the other shapes; write it to {where}")
        if self.shape == "star" and self.policy != "split-duplex":
            raise ValueError("policy: the links of a star are split-duplex; use 'cluster: {}' for others")
        return self
