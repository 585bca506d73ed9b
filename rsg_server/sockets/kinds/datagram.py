"""Sockets that send and receive datagrams: UDP, and ICMP by ping sockets and raw sockets (icmp(7), raw(7))."""

from __future__ import annotations

from dataclasses import dataclass

from rsg_server.capture.frames import ICMP, ICMPV6
from rsg_server.sockets.pair import SimulatedSocket

ICMP_OF = {4: ICMP, 6: ICMPV6}
"""The protocol of ping sockets and raw sockets by address family."""


@dataclass(eq=False, repr=False, slots=True)
class DatagramSocket(SimulatedSocket):
    """What all sockets have that send datagrams."""

    unsent: bytes | None = None  # a datagram that waits for room on its way; until it has left, nothing more is taken
    begun: bytes | None = None  # a datagram that waits for more that joins it (MSG_MORE, UDP_CORK)


@dataclass(eq=False, repr=False, slots=True)
class UdpSocket(DatagramSocket):
    """A UDP socket."""


@dataclass(eq=False, repr=False, slots=True)
class IcmpSocket(DatagramSocket):
    """A socket that sends and hears messages of ICMP, or of ICMPv6."""

    @property
    def protocol(self) -> int:
        """IPPROTO_ICMP or IPPROTO_ICMPV6."""
        return ICMP_OF[self.family]


@dataclass(eq=False, repr=False, slots=True)
class PingSocket(IcmpSocket):
    """A socket for echo requests, whose identifier is its port."""


@dataclass(eq=False, repr=False, slots=True)
class RawSocket(IcmpSocket):
    """A socket for whole messages, which has its protocol for a port, and may be bound anew."""
