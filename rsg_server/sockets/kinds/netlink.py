"""A netlink socket, whose peer is the kernel (netlink(7))."""

from __future__ import annotations

from dataclasses import dataclass

from rsg_server.sockets.pair import SimulatedSocket

SOCK_DGRAM = 2


@dataclass(eq=False, repr=False, slots=True)
class NetlinkSocket(SimulatedSocket):
    """A netlink socket: the server answers its requests as the kernel would."""

    type: int = SOCK_DGRAM  # or SOCK_RAW, as the program has asked
    protocol: int = 0
    port: int = 0  # the socket's netlink port number; 0 until the socket has one
