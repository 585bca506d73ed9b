"""Links and routes, as in SimGrid."""

from dataclasses import dataclass
from enum import Enum


class SharingPolicy(Enum):
    """SHARED: all flows divide the bandwidth. FATPIPE: each flow may have all of it."""

    SHARED = "shared"
    FATPIPE = "fatpipe"


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a wire. Bandwidth in bytes per second, latency in nanoseconds."""

    name: str
    bandwidth_bytes_per_s: float
    latency_ns: int
    policy: SharingPolicy = SharingPolicy.SHARED


@dataclass(frozen=True, slots=True)
class Route:
    """The links from one host to another, in order."""

    links: tuple[Link, ...]

    @property
    def latency_ns(self) -> int:
        """Sum over the links."""
        return sum(link.latency_ns for link in self.links)

    @property
    def bottleneck_bytes_per_s(self) -> float:
        """The smallest bandwidth."""
        return min(link.bandwidth_bytes_per_s for link in self.links)
