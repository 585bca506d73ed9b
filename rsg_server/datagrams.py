"""UDP: datagrams leave a pair with their address in a header, travel, and reach whoever is bound there."""

from __future__ import annotations

import contextlib
import errno
import struct
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.protocol import DATAGRAM_HEADER_BYTES
from rsg_server.socket_pair import Address, SimulatedSocket, SocketState
from rsg_server.sockets import plain

if TYPE_CHECKING:
    from rsg_server.kernel import Kernel

_HEADER = struct.Struct("=BBH16sBBBx16s")
assert _HEADER.size == DATAGRAM_HEADER_BYTES
UDP_HEADER_BYTES = 28
HOP_LIMIT, TRAFFIC_CLASS, DESTINATION = 1, 2, 4
"""DATAGRAM_ bits of csrc/protocol.h: fields of the header that the sender has set, or that the receiver wants to see."""
DEFAULT_HOP_LIMIT = 64
SENDS = {4: ((0, 2), (0, 1)), 6: ((41, 16), (41, 67))}
"""By family, the socket options that set hop limit and traffic class: IP_TTL, IP_TOS; IPV6_UNICAST_HOPS, IPV6_TCLASS."""
WANTS = {
    4: {(0, 12): HOP_LIMIT, (0, 13): TRAFFIC_CLASS, (0, 8): DESTINATION},
    6: {(41, 51): HOP_LIMIT, (41, 66): TRAFFIC_CLASS, (41, 49): DESTINATION},
}
"""By family, the options that ask for ancillary data: IP_RECVTTL, IP_RECVTOS, IP_PKTINFO; IPV6_RECVHOPLIMIT and so on."""


@dataclass(frozen=True, slots=True)
class Label:
    """What an IP header says besides addresses."""

    hop_limit: int
    traffic_class: int

    @classmethod
    def of(cls, sender: SimulatedSocket, given: int, hop_limit: int, traffic_class: int) -> Label:
        """What came along with the datagram, else the socket's own, else the default."""
        hops, traffic = (_option(sender, key) for key in SENDS[sender.family])
        return cls(
            hop_limit if given & HOP_LIMIT else DEFAULT_HOP_LIMIT if hops is None else hops,
            traffic_class if given & TRAFFIC_CLASS else traffic or 0,
        )


def _option(which: SimulatedSocket, key: tuple[int, int]) -> int | None:
    """A small number that was set as an option; None if it was not, or is -1 (the default again) or nonsense."""
    value = int.from_bytes(which.options.get(key, b"\xff")[:4], "little", signed=True)
    return value if 0 <= value <= 255 else None


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
        family, _, port, raw, hop_limit, traffic_class, given, _ = _HEADER.unpack_from(message)
        target = sender.remote if family == 0 else Address(raw[:4] if family == 4 else raw, port)
        if target is None:
            return
        ip = plain(target.ip)
        host = self._kernel.sockets.host_of(sender.host, ip)
        if host is None or self._kernel.sockets.autobind(sender, ip):
            return
        payload = message[DATAGRAM_HEADER_BYTES:]
        assert sender.local is not None
        label = Label.of(sender, given, hop_limit, traffic_class)
        source, target = sender.local, Address(ip, target.port)
        arrive = partial(self._arrive, sender, source, target, label, payload)
        lossy = self._kernel.wire.reach.loses(sender.host.host, host.host)
        self._kernel.wire.packet(
            sender.host,
            host,
            None if lossy else arrive,
            size_bytes=len(payload) + UDP_HEADER_BYTES,
            frames=lambda it: it.datagram(source, target, payload, label.hop_limit, label.traffic_class),
        )

    def _arrive(self, sender: SimulatedSocket, source: Address, target: Address, label: Label, payload: bytes) -> None:
        host = self._kernel.sockets.host_of(sender.host, target.ip)
        receiver = self._kernel.sockets.find(host, "d", target.ip, target.port) if host is not None else None
        if receiver is None or not self._accepts(receiver, source):
            if host is not None and receiver is None and sender.state is SocketState.CONNECTED:
                self._kernel.wire.packet(
                    host, sender.host, partial(self._bounce, sender), frames=lambda it: it.unreachable(source, target, payload)
                )
            return
        self._put(receiver, _header(receiver, source, target, label) + payload)

    @staticmethod
    def _accepts(receiver: SimulatedSocket, source: Address) -> bool:
        """A connected datagram socket hears its peer only."""
        remote = receiver.remote
        return remote is None or (plain(remote.ip), remote.port) == (plain(source.ip), source.port)

    def _bounce(self, sender: SimulatedSocket) -> None:
        """ICMP port unreachable reaches a connected sender."""
        self._put(sender, _HEADER.pack(4, errno.ECONNREFUSED, 0, b"", 0, 0, 0, b""))

    def _put(self, receiver: SimulatedSocket, message: bytes) -> None:
        self._kernel.must_poll = True
        if receiver.number in self._kernel.sockets.all:
            with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):  # full: UDP drops
                receiver.end.send(message)


def _header(receiver: SimulatedSocket, source: Address, target: Address, label: Label) -> bytes:
    """What the receiver's shim is told of a datagram."""
    wanted = sum(bit for key, bit in WANTS[receiver.family].items() if _option(receiver, key))
    addresses = (_shown(source.ip, receiver.family), _shown(target.ip, receiver.family))
    return _HEADER.pack(
        receiver.family, 0, source.port, addresses[0], label.hop_limit, label.traffic_class, wanted, addresses[1]
    )


def _shown(ip: bytes, family: int) -> bytes:
    """An address as a socket of the family sees it."""
    if family == 4:
        return plain(ip)
    return ip if len(ip) == 16 else b"\0" * 10 + b"\xff\xff" + ip
