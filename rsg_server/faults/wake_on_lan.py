"""Wake-on-LAN: the network interface of a host that is off still listens, and boots the host for a magic packet.

A magic packet has six bytes of ones, then 16 times the hardware address of the interface, anywhere in a datagram to any port,
sent to all or to the host. The interface of every host listens, as if `ethtool -s eth0 wol g` had been run on the host.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.event_log import EventLog
    from rsg_server.faults.power import Power
    from rsg_server.network.network import Network
    from rsg_server.process.host_state import HostState
    from rsg_server.shared.clock import Clock
    from rsg_server.sockets.interfaces import InterfaceTable
    from rsg_server.sockets.reachability import Reachability

TIMES = 16


class WakeOnLan:
    """Boots the hosts that magic packets reach: all links of the packet's route are up, and no partition separates the
    two hosts.
    """

    def __init__(
        self,
        clock: Clock,
        timeline: Timeline,
        log: EventLog,
        network: Network,
        interfaces: InterfaceTable,
        reach: Reachability,
        power: Power,
    ) -> None:
        self._clock, self._timeline, self._log = clock, timeline, log
        self._network, self._interfaces, self._reach, self._power = network, interfaces, reach, power

    def heard(self, sender: HostState, receiver: HostState, payload: bytes) -> None:
        """Boot a host that is off if the datagram on its way to the host is a magic packet."""
        hardware = (interface.hardware for interface in self._interfaces.of(receiver.host) if any(interface.hardware))
        if not any(b"\xff" * 6 + each * TIMES in payload for each in hardware):
            return
        if self._reach.connects(sender.host, receiver.host):
            latency_ns = self._network.route(sender.host, receiver.host).latency_ns
            self._timeline.add(self._clock.now_ns + latency_ns, partial(self._wake, receiver.name))

    def _wake(self, host: str) -> None:
        if self._power.what(host) == "off":
            self._log.event(self._clock.now_ns, "wake_on_lan", host=host)
            self._power.start(host)
