"""Links and routes, with SimGrid's meaning."""

import math
from dataclasses import dataclass
from enum import Enum

from rsg_server.platform.power import LinkPower


class SharingPolicy(Enum):
    """SHARED: all flows divide the bandwidth. FATPIPE: each flow may have all of it."""

    SHARED = "shared"
    FATPIPE = "fatpipe"


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a wire: bytes per second, and seconds as written in the platform (only the clock rounds them).

    A split-duplex wire X is two of these, `X_UP` and `X_DOWN`.
    """

    name: str
    bandwidth_bytes_per_s: float
    latency_s: float
    policy: SharingPolicy = SharingPolicy.SHARED
    power: LinkPower | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """The links from one host to another, in order; a link may occur twice.

    `distance_s` is latency that belongs to no link: the distance of two hosts that have coordinates.
    """

    links: tuple[Link, ...]
    distance_s: float = 0.0

    @property
    def latency_s(self) -> float:
        """The latencies of all links and the distance, in seconds."""
        return sum(link.latency_s for link in self.links) + self.distance_s

    @property
    def latency_ns(self) -> int:
        """The latency in nanoseconds, the unit of the virtual clock."""
        return round(self.latency_s * 1e9)

    @property
    def bottleneck_bytes_per_s(self) -> float:
        """The smallest bandwidth of the links; infinite without links."""
        return min((link.bandwidth_bytes_per_s for link in self.links), default=math.inf)
