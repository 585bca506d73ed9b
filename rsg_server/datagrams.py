"""UDP: datagrams leave a pair with their address in a header, travel, and reach whoever is bound there."""

from __future__ import annotations

import contextlib
import errno
import struct
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.protocol import DATAGRAM_HEADER_BYTES
from rsg_server.socket_pair import Address, SimulatedSocket, SocketState
from rsg_server.sockets import plain

if TYPE_CHECKING:
    from rsg_server.kernel import Kernel

_HEADER = struct.Struct("=BBH16s")
assert _HEADER.size == DATAGRAM_HEADER_BYTES
UDP_HEADER_BYTES = 28


class Datagrams:
    """Takes datagrams from sending sockets and gives them to receiving ones."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def take(self, sender: SimulatedSocket) -> None:
        """Send on all that the application has written."""
        while True:
            try:
                message = sender.end.recv(1 << 17)
            except (BlockingIOError, ConnectionResetError):
                return
            if len(message) < DATAGRAM_HEADER_BYTES:
                return
            self._send(sender, message)

    def _send(self, sender: SimulatedSocket, message: bytes) -> None:
        family, _, port, raw = _HEADER.unpack_from(message)
        target = sender.remote if family == 0 else Address(raw[:4] if family == 4 else raw, port)
        if target is None:
            return
        ip = plain(target.ip)
        host = self._kernel.sockets.host_of(sender.host, ip)
        if host is None or self._kernel.sockets.autobind(sender, ip):
            return
        payload = message[DATAGRAM_HEADER_BYTES:]
        assert sender.local is not None
        arrive = partial(self._arrive, sender, sender.local, ip, target.port, payload)
        self._kernel.network.message(sender.host.host, host.host, arrive, len(payload) + UDP_HEADER_BYTES)

    def _arrive(self, sender: SimulatedSocket, source: Address, ip: bytes, port: int, payload: bytes) -> None:
        host = self._kernel.sockets.host_of(sender.host, ip)
        receiver = self._kernel.sockets.find(host, "d", ip, port) if host is not None else None
        if receiver is None or not self._accepts(receiver, source):
            if host is not None and receiver is None and sender.state is SocketState.CONNECTED:
                self._kernel.network.message(host.host, sender.host.host, partial(self._bounce, sender))
            return
        address = source.ip if receiver.family == 4 or len(source.ip) == 16 else b"\0" * 10 + b"\xff\xff" + source.ip
        address = plain(address) if receiver.family == 4 else address
        self._put(receiver, _HEADER.pack(receiver.family, 0, source.port, address.ljust(16, b"\0")) + payload)

    @staticmethod
    def _accepts(receiver: SimulatedSocket, source: Address) -> bool:
        """A connected datagram socket hears its peer only."""
        remote = receiver.remote
        return remote is None or (plain(remote.ip), remote.port) == (plain(source.ip), source.port)

    def _bounce(self, sender: SimulatedSocket) -> None:
        """ICMP port unreachable reaches a connected sender."""
        self._put(sender, _HEADER.pack(4, errno.ECONNREFUSED, 0, b"\0" * 16))

    def _put(self, receiver: SimulatedSocket, message: bytes) -> None:
        self._kernel.must_poll = True
        if receiver.number in self._kernel.sockets.all:
            with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):  # full: UDP drops
                receiver.end.send(message)
