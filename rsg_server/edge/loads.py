"""How busy links, storages and power supplies are at this moment, for those who look at a run; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rsg_server.kernel import Kernel
    from rsg_server.network.flow import Flow
    from rsg_server.storage.disks import Disks

LINKS_MOST = 200
"""How many links are told, those with the largest used part of their bandwidth."""
READS, WRITES = 0, 1


def loads_of(kernel: Kernel) -> dict[str, Any]:
    """Links that flows use now, what each storage has moved since the start, and the watts that are drawn now.

    * `links`: [name, flows, bytes per second, part of the bandwidth]; at most LINKS_MOST, the busiest first;
    * `storages`: [name, bytes read, bytes written, operations under way] of each storage that was used;
    * `watts`: of all hosts and enclosures that have watts; None if none has any.
    """
    meters = kernel.energy.hosts.meters()
    return {
        "virtual_s": kernel.now_ns / 1e9,
        "links": links_of(kernel.network.moving()),
        "storages": list(storages_of(kernel.storages.disks)),
        "watts": sum(meter.watts for meter in meters) if meters else None,
    }


def links_of(flows: Iterable[Flow]) -> list[list[object]]:
    """The links that flows use: [name, flows, bytes per second, part of the bandwidth], the busiest first."""
    used: dict[str, tuple[int, float, float]] = {}
    for flow in flows:
        for link in flow.links:
            count, rate, _ = used.get(link.name, (0, 0.0, 0.0))
            used[link.name] = (count + 1, rate + flow.rate, link.bandwidth_bytes_per_s)
    rows: list[list[object]] = [
        [name, count, rate, rate / width if width else 0.0] for name, (count, rate, width) in used.items()
    ]
    return sorted(rows, key=lambda row: (-float(str(row[3])), str(row[0])))[:LINKS_MOST]


def storages_of(disks: Disks) -> Iterator[list[object]]:
    """The storages that were used: [name, bytes read, bytes written, operations under way], by name."""
    for name, activity in sorted(disks.activities()):
        read, written = (activity.by_direction[way].size_bytes for way in (READS, WRITES))
        yield [name, read, written, activity.in_flight]
