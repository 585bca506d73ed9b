"""Sockets that send and receive datagrams: for UDP, and for ICMP as ping sockets and raw sockets (icmp(7), raw(7))."""

from __future__ import annotations

from dataclasses import dataclass

from rsg_server.capture.frames import ICMP, ICMPV6
from rsg_server.sockets.pair import SimulatedSocket

ICMP_OF = {4: ICMP, 6: ICMPV6}
"""The protocol of ping sockets and raw sockets by address family."""


@dataclass(eq=False, repr=False, slots=True)
class DatagramSocket(SimulatedSocket):
    """The properties that all sockets which send datagrams have."""

    # a datagram that waits for room in the queue to its host; until this datagram has left, no other one is taken
    unsent: bytes | None = None
    begun: bytes | None = None  # a datagram to which more is going to be joined (MSG_MORE, UDP_CORK)


@dataclass(eq=False, repr=False, slots=True)
class UdpSocket(DatagramSocket):
    """A UDP socket."""


@dataclass(eq=False, repr=False, slots=True)
class IcmpSocket(DatagramSocket):
    """A socket that sends and receives messages of ICMP, or of ICMPv6."""

    @property
    def protocol(self) -> int:
        """The number of the socket's protocol: IPPROTO_ICMP or IPPROTO_ICMPV6."""
        return ICMP_OF[self.family]


@dataclass(eq=False, repr=False, slots=True)
class PingSocket(IcmpSocket):
    """A socket that sends echo requests only; its port is their identifier (icmp(7))."""


@dataclass(eq=False, repr=False, slots=True)
class RawSocket(IcmpSocket):
    """A socket that sends whole messages (raw(7)).

    The port of such a socket is its protocol, and the socket may be bound again.
    """
