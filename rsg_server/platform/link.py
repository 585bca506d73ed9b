"""Links and routes of a platform, in SimGrid's sense."""

import math
from dataclasses import dataclass, field
from enum import Enum

from rsg_server.platform.power import LinkPower


class SharingPolicy(Enum):
    """How flows share a link.

    SHARED: all flows divide the bandwidth. FATPIPE: each flow may have all of it. DISK: all flows divide the bandwidth,
    whichever flow model the run has.
    """

    SHARED = "shared"
    FATPIPE = "fatpipe"
    DISK = "disk"


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a wire: its bandwidth in bytes per second, and its latency in seconds as written in the platform.

    Only the virtual clock rounds latencies. A split-duplex wire X is represented by two links, `X_UP` and `X_DOWN`.
    """

    name: str
    bandwidth_bytes_per_s: float
    latency_s: float
    policy: SharingPolicy = SharingPolicy.SHARED
    power: LinkPower | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """The links from one host to another, in order. A link may occur twice.

    `distance_s` is latency that belongs to no link: the distance of two hosts that have coordinates. Some values are
    computed once, since every packet needs them. These are the latency of all links plus the distance, in seconds and
    in virtual ns, and the smallest bandwidth of the links, which is infinite without links.
    """

    links: tuple[Link, ...]
    distance_s: float = 0.0
    latency_s: float = field(init=False, repr=False, compare=False)
    latency_ns: int = field(init=False, repr=False, compare=False)
    bottleneck_bytes_per_s: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        latency_s = sum(link.latency_s for link in self.links) + self.distance_s
        object.__setattr__(self, "latency_s", latency_s)
        object.__setattr__(self, "latency_ns", round(latency_s * 1e9))
        bottleneck = min((link.bandwidth_bytes_per_s for link in self.links), default=math.inf)
        object.__setattr__(self, "bottleneck_bytes_per_s", bottleneck)
