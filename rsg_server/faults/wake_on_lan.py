"""Wake-on-LAN: the network interface of a host that is off still listens, and boots the host for a magic packet.

A magic packet has six bytes of ones, then 16 times the hardware address of the interface, anywhere in a datagram to any port,
sent to all or to the host. Every host listens, as if `ethtool -s eth0 wol g` had been said on it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.faults.needs import Kernel
    from rsg_server.faults.power import Power
    from rsg_server.process.host_state import HostState

TIMES = 16


class WakeOnLan:
    """Boots hosts for magic packets, which arrive as long as links are up and no partition is between."""

    def __init__(self, kernel: Kernel, power: Power) -> None:
        self._kernel = kernel
        self._power = power

    def heard(self, sender: HostState, receiver: HostState, payload: bytes) -> None:
        """A datagram is on its way to a host that is off."""
        hardware = (interface.hardware for interface in self._kernel.interfaces.of(receiver.host) if any(interface.hardware))
        if not any(b"\xff" * 6 + each * TIMES in payload for each in hardware):
            return
        if self._kernel.wire.reach.connects(sender.host, receiver.host):
            latency_ns = self._kernel.network.route(sender.host, receiver.host).latency_ns
            self._kernel.timeline.add(self._kernel.now_ns + latency_ns, partial(self._wake, receiver.name))

    def _wake(self, host: str) -> None:
        if self._power.what(host) == "off":
            self._kernel.log.event(self._kernel.now_ns, "wake_on_lan", host=host)
            self._power.start(host)
