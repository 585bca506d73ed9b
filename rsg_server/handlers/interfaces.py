"""Handles requests about the network interfaces of a host: by netlink(7) sockets, and by the older ioctls of netdevice(7)."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.protocol import Op
from rsg_server.sockets import network_namespaces
from rsg_server.sockets.kinds.netlink import NetlinkSocket

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.sockets.interfaces import InterfaceTable
    from rsg_server.sockets.netlink.netlink import Netlink
    from rsg_server.sockets.table import SocketTable


class InterfaceHandlers:
    """Handles NETLINK, INTERFACE and NETWORK."""

    def __init__(self, interfaces: InterfaceTable, netlink: Netlink, sockets: SocketTable) -> None:
        self._interfaces, self._netlink, self._sockets = interfaces, netlink, sockets

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.NETWORK: self.network,
                Op.NETLINK: self.netlink,
                Op.INTERFACE: self.interface,
            }
        )

    def netlink(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Answer the requests that a program has sent on a netlink socket.

        [number of the socket] -> [0].
        """
        found = self._sockets.of(actor, arguments[0])
        if not isinstance(found, NetlinkSocket):
            return failed(errno.EBADF)
        self._netlink.take(found, actor.process.pid)
        return OK

    def interface(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Return the properties of a network interface, given by index or name.

        [index, name] -> [0, index, flags, MTU, kind, speed, prefix length, name, MAC address, IPv4 addresses].
        """
        index, name = arguments
        for found in self._interfaces.of(network_namespaces.network_of(actor).host):
            if index == found.index or (index == 0 and name == found.name.encode()):
                own = [address for address in found.addresses if address.version == 4]
                prefix = own[0].network.prefixlen if own else 0
                numbers = (0, found.index, found.flags, found.mtu, found.kind, found.speed_mbit, prefix)
                packed = b"".join(address.ip.packed for address in own)
                return Reply((*numbers, found.name.encode(), found.hardware, packed))
        return failed(errno.ENODEV)

    def network(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Note that the caller has entered a network namespace.

        [inode of the namespace, 1 if it is new] -> [0].
        """
        inode, is_new = arguments
        network_namespaces.enter(actor, inode, bool(is_new))
        return OK
