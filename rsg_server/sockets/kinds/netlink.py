"""A netlink socket, whose peer is the kernel (netlink(7))."""

from __future__ import annotations

from dataclasses import dataclass

from rsg_server.sockets.pair import SimulatedSocket

SOCK_DGRAM = 2


@dataclass(eq=False, repr=False, slots=True)
class NetlinkSocket(SimulatedSocket):
    """A netlink socket."""

    type: int = SOCK_DGRAM  # or SOCK_RAW, as it was asked for
    protocol: int = 0
    port: int = 0  # its port number; 0 as long as it has none
