"""Makes the meters of a run's power, and connects them to what changes the power of hosts and links.

On a platform whose description has no watts there are no meters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from rsg_server.energy.hosts import HostMeters
from rsg_server.energy.links import LinkMeters
from rsg_server.platform.power import Boot, Enclosure
from rsg_server.platform.topology import TopologyZone

if TYPE_CHECKING:
    from rsg_server.faults.faults import Faults
    from rsg_server.network.network import Network
    from rsg_server.platform.link import Link
    from rsg_server.platform.platform import Platform
    from rsg_server.process.cpu import Cpu
    from rsg_server.shared.clock import Clock
    from rsg_server.sockets.wire import Wire


class Energy:
    """The meters of all hosts, enclosures and links whose description has watts."""

    def __init__(
        self,
        clock: Clock,
        platform: Platform,
        network: Network,
        wire: Wire,
        cpu: Cpu,
        faults: Faults,
        *,
        enclosures: Iterable[Enclosure],
        boots: Mapping[str, Boot],
    ) -> None:
        def now_ns() -> int:
            return clock.now_ns

        model = network.model
        factor = model.bandwidth_factor.of(float("inf"))
        self.hosts = HostMeters(now_ns, platform.hosts, enclosures, boots)
        self.links = LinkMeters(now_ns, network, _links_with_watts(platform), factor, model.cross_traffic)
        if self.hosts.hosts:
            cpu.on_load.connect(self.hosts.loaded)
            faults.on_power_state.connect(self.hosts.changed_state)
            faults.power.on_switch.connect(self.hosts.switched)
        if self.links.links:
            wire.watchers.append(self.links)
            faults.on_link.connect(self.links.changed)

    @property
    def is_metered(self) -> bool:
        """Whether any host, enclosure or link has watts."""
        return bool(self.hosts.hosts or self.links.links)


def _links_with_watts(platform: Platform) -> Iterator[Link]:
    """Yield the links that may have watts: those that a zone stores, and the cables of a topology whose description has watts.

    The call creates all cables of such a topology, since each cable draws its idle watts even if it is never used.
    """
    root = platform.description.root
    for zone in root.family() if root is not None else ():
        if not isinstance(zone, TopologyZone) or zone.cluster_links.cables.power is not None:
            yield from zone.all_links()
