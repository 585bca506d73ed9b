"""UDP: datagrams leave a pair with their address in a header, travel, and reach whoever is bound there."""

from __future__ import annotations

import contextlib
import errno
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.protocol import DATAGRAM_HEADER_BYTES
from rsg_server.sockets.multicast import Groups
from rsg_server.sockets.pair import Address, SimulatedSocket, SocketState
from rsg_server.sockets.ports import plain

if TYPE_CHECKING:
    from rsg_server.kernel import Kernel
    from rsg_server.process.host_state import HostState

_HEADER = struct.Struct("=BBH16sBBBx16sq")
assert _HEADER.size == DATAGRAM_HEADER_BYTES
UDP_HEADER_BYTES = 28
HOP_LIMIT, TRAFFIC_CLASS, DESTINATION, TIME, TIME_NS, TIMES = 1, 2, 4, 8, 16, 32
"""DATAGRAM_ bits of csrc/shared/protocol.h: fields of the header that the sender has set, or that the receiver wants to see."""
DEFAULT_HOP_LIMIT = 64
SENDS = {4: ((0, 2), (0, 1)), 6: ((41, 16), (41, 67))}
"""By family, the socket options that set hop limit and traffic class: IP_TTL, IP_TOS; IPV6_UNICAST_HOPS, IPV6_TCLASS."""
WANTS = {
    4: {(0, 12): HOP_LIMIT, (0, 13): TRAFFIC_CLASS, (0, 8): DESTINATION},
    6: {(41, 51): HOP_LIMIT, (41, 66): TRAFFIC_CLASS, (41, 49): DESTINATION},
}
"""By family, the options that ask for ancillary data: IP_RECVTTL, IP_RECVTOS, IP_PKTINFO; IPV6_RECVHOPLIMIT and so on."""
WANTS_TIME = {(1, 29): TIME, (1, 35): TIME_NS, (1, 37): TIMES}
"""SO_TIMESTAMP, SO_TIMESTAMPNS, SO_TIMESTAMPING, in the form that 64-bit programs use."""


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


@dataclass(frozen=True, slots=True)
class Datagram:
    """One on its way."""

    source: Address
    target: Address
    label: Label
    payload: bytes

    def shown_to(self, receiver: SimulatedSocket, arrived_ns: int) -> bytes:
        """What a receiver's shim is told of it, and what it holds."""
        return _header(receiver, self, arrived_ns) + self.payload


class Datagrams:
    """Takes datagrams from sending sockets and gives them to receiving ones."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.groups = Groups(kernel)
        self._held: dict[int, bytes] = {}  # by number of the socket

    def take(self, sender: SimulatedSocket, is_closed: bool = False) -> None:
        """Send on what the application has written, until one has to wait; of who has closed, everything."""
        held = self._held.pop(sender.number, None)
        if held is not None:
            self._send(sender, held, is_closed)
        while sender.number not in self._held:
            try:
                message = sender.end.recv(1 << 17)
            except (BlockingIOError, ConnectionResetError):
                break
            if len(message) < DATAGRAM_HEADER_BYTES:
                break
            self._send(sender, message, is_closed)
        self._kernel.sockets.set_events(sender)

    def holds(self, sender: SimulatedSocket) -> bool:
        """Whether one of its datagrams waits for room; until then nothing more is taken from it."""
        return sender.number in self._held

    def _finds_room(self, sender: SimulatedSocket, receiver: HostState, message: bytes) -> bool:
        """Whether the queue takes it now. If not it is lost, or held until there is room."""
        queue = self._kernel.network.datagrams(sender.host.host, receiver.host)
        if queue.has_room(len(message) - DATAGRAM_HEADER_BYTES + UDP_HEADER_BYTES):
            return True
        if queue.holds_up_its_sender:
            self._held[sender.number] = message
            queue.waiting.append(partial(self._go_on, sender))
        return False

    def _go_on(self, sender: SimulatedSocket) -> None:
        """There may be room again."""
        if sender.vanished or sender.is_broken:
            self._held.pop(sender.number, None)
        elif sender.number in self._held:
            self.take(sender)
            self._kernel.readiness.changed()

    def _send(self, sender: SimulatedSocket, message: bytes, is_last: bool) -> None:
        """On its way; `is_last`: with room or without, because its socket is gone."""
        family, _, port, raw, hop_limit, traffic_class, given, _, _ = _HEADER.unpack_from(message)
        target = sender.remote if family == 0 else Address(raw[:4] if family == 4 else raw, port)
        if target is None:
            return
        ip = plain(target.ip)
        label = Label.of(sender, given, hop_limit, traffic_class)
        payload = message[DATAGRAM_HEADER_BYTES:]
        if self.groups.is_many(sender.host, ip):
            self._send_to_many(sender, Address(ip, target.port), label, payload)
            return
        host = self._kernel.sockets.host_of(sender.host, ip)
        source = self._kernel.sockets.source(sender, ip)
        if host is None or source is None:
            return
        if not is_last and not self._finds_room(sender, host, message):
            return
        datagram = Datagram(source, Address(ip, target.port), label, payload)
        self._carry(sender.host, host, datagram, partial(self._arrive, sender, datagram))

    def _carry(self, sender: HostState, receiver: HostState, datagram: Datagram, arrive: Callable[[], None]) -> None:
        """To one host, unless it is lost on the way."""
        label = datagram.label
        lossy = self._kernel.wire.reach.loses(sender.host, receiver.host)
        self._kernel.wire.datagram(
            sender,
            receiver,
            None if lossy else arrive,
            len(datagram.payload) + UDP_HEADER_BYTES,
            lambda it: it.datagram(datagram.source, datagram.target, datagram.payload, label.hop_limit, label.traffic_class),
        )

    def _send_to_many(self, sender: SimulatedSocket, target: Address, label: Label, payload: bytes) -> None:
        source = self._kernel.sockets.source(sender, target.ip, self.groups.source(sender, target.ip))
        if source is None or self.groups.may_send(sender, target.ip):
            return
        interface = self.groups.outgoing(sender, target.ip)
        datagram = Datagram(source, target, label, payload)
        for host in self.groups.hosts(sender, target.ip):
            queue = self._kernel.network.datagrams(sender.host.host, host.host)
            if not queue.has_room(len(payload) + UDP_HEADER_BYTES):
                continue  # some switch loses it
            self._carry(sender.host, host, datagram, partial(self._arrive_at_all, host, interface, datagram))

    def _arrive_at_all(self, host: HostState, interface: int, datagram: Datagram) -> None:
        target = datagram.target
        for receiver in list(self.groups.receivers(host, interface, target.ip, target.port)):
            if self._accepts(receiver, datagram.source):
                self._put(receiver, datagram.shown_to(receiver, self._realtime_ns()))

    def _arrive(self, sender: SimulatedSocket, datagram: Datagram) -> None:
        source, target, payload = datagram.source, datagram.target, datagram.payload
        host = self._kernel.sockets.host_of(sender.host, target.ip)
        receiver = self._kernel.sockets.find(host, "d", target.ip, target.port, source) if host is not None else None
        if receiver is None or not self._accepts(receiver, source):
            if host is not None and receiver is None and sender.state is SocketState.CONNECTED:
                self._kernel.wire.packet(
                    host, sender.host, partial(self._bounce, sender), frames=lambda it: it.unreachable(source, target, payload)
                )
            return
        self._put(receiver, datagram.shown_to(receiver, self._realtime_ns()))

    @staticmethod
    def _accepts(receiver: SimulatedSocket, source: Address) -> bool:
        """A connected datagram socket hears its peer only."""
        remote = receiver.remote
        return remote is None or (plain(remote.ip), remote.port) == (plain(source.ip), source.port)

    def _bounce(self, sender: SimulatedSocket) -> None:
        """ICMP port unreachable reaches a connected sender."""
        self._put(sender, _HEADER.pack(4, errno.ECONNREFUSED, 0, b"", 0, 0, 0, b"", 0))

    def _realtime_ns(self) -> int:
        return self._kernel.options.epoch_ns + self._kernel.now_ns

    def _put(self, receiver: SimulatedSocket, message: bytes) -> None:
        self._kernel.readiness.changed()
        if receiver.number in self._kernel.sockets.all:
            with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):  # full: UDP drops
                receiver.end.send(message)


def _header(receiver: SimulatedSocket, datagram: Datagram, arrived_ns: int) -> bytes:
    source, target, label = datagram.source, datagram.target, datagram.label
    wants = WANTS[receiver.family] | WANTS_TIME
    wanted = sum(bit for key, bit in wants.items() if _option(receiver, key))
    addresses = (_shown(source.ip, receiver.family), _shown(target.ip, receiver.family))
    fields = (label.hop_limit, label.traffic_class, wanted, addresses[1], arrived_ns)
    return _HEADER.pack(receiver.family, 0, source.port, addresses[0], *fields)


def _shown(ip: bytes, family: int) -> bytes:
    """An address as a socket of the family sees it."""
    if family == 4:
        return plain(ip)
    return ip if len(ip) == 16 else b"\0" * 10 + b"\xff\xff" + ip
