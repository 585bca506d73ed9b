"""UDP and ICMP: takes datagrams from the pairs of sending sockets, lets them travel, and gives them to receiving sockets.

The server takes datagrams from a pair in order. If the queue of datagrams to the target's host has no room, the server
keeps the datagram and takes no other from this pair. In this case the pair fills up, so that the sender has to wait.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.capture.frames import UDP
from rsg_server.observers import Observers
from rsg_server.protocol import DATAGRAM_HEADER_BYTES, DatagramField
from rsg_server.sockets import icmp, options
from rsg_server.sockets.datagram_header import HEADERS_BYTES, REFUSED, Datagram, Label, Sent
from rsg_server.sockets.kinds.datagram import DatagramSocket, UdpSocket
from rsg_server.sockets.pair import Address, SocketState
from rsg_server.sockets.ports import flag, plain

if TYPE_CHECKING:
    from rsg_server.capture.capture import Capture
    from rsg_server.process.host_state import HostState
    from rsg_server.shared.clock import Clock
    from rsg_server.sockets.multicast import Multicast
    from rsg_server.sockets.table import Readiness, SocketTable
    from rsg_server.sockets.wire import Wire


LARGEST_BYTES = 65507
"""The most bytes of payload in a UDP datagram over IPv4."""


def _accepts(receiver: DatagramSocket, source: Address) -> bool:
    """Return whether a socket receives from an address: a connected one receives from its peer only."""
    remote = receiver.remote
    return remote is None or (plain(remote.ip), remote.port) == (plain(source.ip), source.port)


def _frames(datagram: Datagram, capture: Capture) -> list[bytes]:
    source, target, label = datagram.source, datagram.target, datagram.label
    if datagram.protocol != UDP:
        return capture.icmp(source.ip, target.ip, datagram.payload, label.hop_limit, label.traffic_class)
    return capture.datagram(source, target, datagram.payload, label.hop_limit, label.traffic_class)


class Datagrams:
    """Takes datagrams from sending sockets, and gives them to receiving sockets."""

    def __init__(
        self, clock: Clock, epoch_ns: int, wire: Wire, multicast: Multicast, sockets: SocketTable, readiness: Readiness
    ) -> None:
        self._clock, self._epoch_ns, self._wire = clock, epoch_ns, wire
        self._sockets, self._readiness = sockets, readiness
        self.multicast = multicast
        self.icmp = icmp.Icmp(wire.network, sockets, self._carry, self.give)
        # observers get the sender, the receiving host, which is off, and the payload
        self.on_to_off: Observers[HostState, HostState, bytes] = Observers()

    def take(self, sender: DatagramSocket, is_closed: bool = False) -> None:
        """Send what the application has written, until a datagram has to wait; if the application has closed the
        socket, send all datagrams.
        """
        unsent, sender.unsent = sender.unsent, None
        if unsent is not None:
            self._send(sender, unsent, is_closed)
        while sender.unsent is None:
            try:
                message = sender.end.recv(1 << 17)
            except (BlockingIOError, ConnectionResetError):
                break
            if len(message) < DATAGRAM_HEADER_BYTES:
                break
            whole = self._joined(sender, message)
            if whole is not None:
                self._send(sender, whole, is_closed)
        if is_closed:
            sender.begun = None
        self._sockets.set_events(sender)

    def _joined(self, sender: DatagramSocket, message: bytes) -> bytes | None:
        """Return a message, joined to the datagram that was begun before it (MSG_MORE, UDP_CORK: udp(7)); None while
        more is to be joined. A joined message that is larger than a datagram can be is lost as a whole.
        """
        follows = bool(Sent.of(message).given & DatagramField.MORE) or flag(sender, 1, options.SOL_UDP)
        begun, sender.begun = sender.begun, None
        if begun is None and not follows:
            return message
        whole = message if begun is None else begun + message[DATAGRAM_HEADER_BYTES:]
        if len(whole) > DATAGRAM_HEADER_BYTES + LARGEST_BYTES:
            return None
        if follows:
            sender.begun = whole
            return None
        return whole

    def has_begun(self, sender: DatagramSocket) -> bool:
        """Return whether a socket has a datagram to which the application will add more bytes (MSG_MORE, UDP_CORK)."""
        self.take(sender)
        return sender.begun is not None

    def finish(self, sender: DatagramSocket) -> None:
        """Send the datagram to which more bytes were to be added."""
        begun, sender.begun = sender.begun, None
        if begun is not None:
            self._send(sender, begun, is_last=True)

    def _finds_room(self, sender: DatagramSocket, receiver: HostState, message: bytes) -> bool:
        """Return whether the queue has room for a datagram now.

        If not, the datagram is lost, or is kept until there is room.
        """
        queue = self._wire.network.datagrams(sender.host.host, receiver.host)
        if queue.has_room(len(message) - DATAGRAM_HEADER_BYTES + HEADERS_BYTES[UDP]):
            return True
        if queue.holds_up_its_sender:
            sender.unsent = message
            queue.waiting.append(partial(self._send_unsent, sender))
        return False

    def _send_unsent(self, sender: DatagramSocket) -> None:
        """Try again to send the datagram that is kept, because the queue may have room for it now."""
        if sender.vanished or sender.is_broken:
            sender.unsent = None
        elif sender.unsent is not None:
            self.take(sender)
            self._readiness.changed()

    def _send(self, sender: DatagramSocket, message: bytes, is_last: bool) -> None:
        """Send a datagram. With `is_last` the datagram needs no room in the queue, because its socket is closed."""
        sent = Sent.of(message)
        target = sent.target or sender.remote
        if target is None:
            return
        ip = plain(target.ip)
        label = Label.of(sender, sent)
        payload = message[DATAGRAM_HEADER_BYTES:]
        if self.multicast.is_many(sender.host, ip):
            self._send_to_many(sender, Address(ip, target.port), label, payload)
            return
        host = self._sockets.binding.host_of(sender.host, ip)
        source = self._sockets.binding.source(sender, ip)
        if host is None or source is None:
            return
        if not is_last and not self._finds_room(sender, host, message):
            return
        datagram = self._datagram(sender, source, Address(ip, target.port), label, payload)
        arrive = partial(self._arrive, sender, datagram)
        if datagram.protocol != UDP:
            arrive = partial(self.icmp.arrive, host, sender.host, datagram)
        self._carry(sender.host, host, datagram, arrive)

    @staticmethod
    def _datagram(sender: DatagramSocket, source: Address, target: Address, label: Label, payload: bytes) -> Datagram:
        """Return the datagram that leaves a socket. A message of ICMP has no ports, and has a checksum."""
        if isinstance(sender, UdpSocket):
            return Datagram(source, target, label, payload)
        message = icmp.outgoing(sender, source, target.ip, payload)
        return Datagram(Address(source.ip, 0), Address(target.ip, 0), label, message, icmp.protocol_of(target.ip))

    def _carry(self, sender: HostState, receiver: HostState, datagram: Datagram, arrive: Callable[[], None]) -> None:
        """Send a datagram to one host; `arrive` is called there, unless the datagram is lost on the way."""
        lossy = self._wire.reach.loses(sender.host, receiver.host)
        if receiver.name in self._wire.reach.off and not lossy:
            self.on_to_off.tell(sender, receiver, datagram.payload)
        self._wire.datagram(
            sender,
            receiver,
            None if lossy else arrive,
            datagram.size_bytes,
            partial(_frames, datagram),
        )

    def _send_to_many(self, sender: DatagramSocket, target: Address, label: Label, payload: bytes) -> None:
        source = self._sockets.binding.source(sender, target.ip, self.multicast.source(sender, target.ip))
        if source is None or self.multicast.may_send(sender, target.ip):
            return
        interface = self.multicast.outgoing(sender, target.ip)
        datagram = self._datagram(sender, source, target, label, payload)
        for host in self.multicast.hosts(sender, target.ip):
            queue = self._wire.network.datagrams(sender.host.host, host.host)
            if not queue.has_room(datagram.size_bytes):
                continue  # a switch on the way loses the datagram
            arrive = partial(self._arrive_at_all, host, interface, datagram)
            if datagram.protocol != UDP:
                arrive = partial(self.icmp.arrive, host, sender.host, datagram, is_for_many=True)
            self._carry(sender.host, host, datagram, arrive)

    def _arrive_at_all(self, host: HostState, interface: int, datagram: Datagram) -> None:
        target = datagram.target
        for receiver in list(self.multicast.receivers(host, interface, target.ip, target.port)):
            if _accepts(receiver, datagram.source):
                self.give(receiver, datagram)

    def _arrive(self, sender: DatagramSocket, datagram: Datagram) -> None:
        source, target, payload = datagram.source, datagram.target, datagram.payload
        binding = self._sockets.binding
        host = binding.host_of(sender.host, target.ip)
        receiver = binding.find(host, UdpSocket, target.ip, target.port, source) if host is not None else None
        if receiver is not None:
            if _accepts(receiver, source):
                self.give(receiver, datagram)
        elif host is not None and sender.state is SocketState.CONNECTED:
            refuse = partial(self._put, sender, REFUSED)
            self._wire.packet(host, sender.host, refuse, frames=lambda capture: capture.unreachable(source, target, payload))

    def give(self, receiver: DatagramSocket, datagram: Datagram, shown: bytes | None = None) -> None:
        """Let a socket receive a datagram; if `shown` is given, the application sees `shown` instead of the payload."""
        now_ns = self._epoch_ns + self._clock.now_ns
        self._put(receiver, datagram.shown_to(receiver, now_ns, shown))

    def _put(self, receiver: DatagramSocket, message: bytes) -> None:
        self._readiness.changed()
        if receiver.number in self._sockets.all:
            # the socket's buffer is full, so the datagram is lost, as with UDP on Linux
            with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
                receiver.end.send(message)
