"""ICMP and ICMPv6 (RFC 792, RFC 4443): echo requests, which hosts answer by themselves, and the sockets that send them.

A ping socket (SOCK_DGRAM) sends only echo requests, under an identifier of its own, which is its port. A ping socket
receives only the answers to its requests (icmp(7)). A raw socket sends whole messages, and receives all messages that
reach its host and pass its filter; messages of IPv4 come with their IP header (raw(7)). As on Linux, a host answers no
request that was sent to a broadcast or multicast address (net.ipv4.icmp_echo_ignore_broadcasts).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from rsg_server.capture.frames import ICMP, ICMPV6, IpLabel, ipv4, with_icmp_checksum
from rsg_server.capture.frames import checksum as internet_checksum
from rsg_server.sockets.datagram_header import Datagram, Label
from rsg_server.sockets.kinds.datagram import PingSocket, RawSocket
from rsg_server.sockets.pair import Address
from rsg_server.sockets.ports import hears, plain

if TYPE_CHECKING:
    from rsg_server.network.network import Network
    from rsg_server.process.host_state import HostState
    from rsg_server.sockets.kinds.datagram import DatagramSocket
    from rsg_server.sockets.table import SocketTable

HEADER_BYTES = 8
REQUEST = {ICMP: 8, ICMPV6: 128}
ANSWER = {ICMP: 0, ICMPV6: 129}
"""The type of an echo reply, by protocol."""
FILTER = {ICMP: (255, 1), ICMPV6: (58, 1)}
"""The socket options ICMP_FILTER and ICMPV6_FILTER: a set bit keeps messages of that type from the application."""
ANSWER_LABEL = Label(hop_limit=64, traffic_class=0)
Carry = Callable[["HostState", "HostState", Datagram, Callable[[], None]], None]


class Give(Protocol):
    """A function that lets a socket receive a datagram, or `shown` instead (rsg_server.sockets.datagrams.Datagrams.give)."""

    def __call__(self, receiver: DatagramSocket, datagram: Datagram, shown: bytes | None = None) -> None: ...


def protocol_of(ip: bytes) -> int:
    """Return the protocol (ICMP or ICMPv6) for an address."""
    return ICMP if len(ip) == 4 else ICMPV6


def outgoing(sender: DatagramSocket, source: Address, target: bytes, message: bytes) -> bytes:
    """Return a message as it leaves: with a ping socket's identifier, and a checksum unless its sender has to make it
    (raw(7)).
    """
    if isinstance(sender, RawSocket) and sender.family == 4:
        return message
    if isinstance(sender, PingSocket):
        message = message[:4] + source.port.to_bytes(2, "big") + message[6:]
    return with_icmp_checksum(source.ip, target, message)


class Icmp:
    """Handles ICMP messages that reach a host."""

    def __init__(self, network: Network, sockets: SocketTable, carry: Carry, give: Give) -> None:
        self._network, self._sockets = network, sockets
        self._carry, self._give = carry, give

    def arrive(self, host: HostState, sender: HostState, datagram: Datagram, is_for_many: bool = False) -> None:
        """Give a message that reaches a host to the sockets that receive it, and answer it if it is a request."""
        self._show_to_raw_sockets(host, datagram)
        message, protocol = datagram.payload, datagram.protocol
        if len(message) < HEADER_BYTES or (protocol == ICMP and internet_checksum(message)):
            return
        if message[0] == ANSWER[protocol]:
            self._show_to_ping_socket(host, datagram)
        elif message[0] == REQUEST[protocol] and message[1] == 0 and not is_for_many:
            self._answer(host, sender, datagram)

    def _answer(self, host: HostState, asker: HostState, request: Datagram) -> None:
        source, target = Address(request.target.ip, 0), Address(request.source.ip, 0)
        message = with_icmp_checksum(source.ip, target.ip, bytes([ANSWER[request.protocol]]) + request.payload[1:])
        answer = Datagram(source, target, ANSWER_LABEL, message, request.protocol)
        if self._network.datagrams(host.host, asker.host).has_room(answer.size_bytes):
            self._carry(host, asker, answer, lambda: self.arrive(asker, host, answer))

    def _show_to_raw_sockets(self, host: HostState, datagram: Datagram) -> None:
        protocol, label = datagram.protocol, datagram.label
        source, target = datagram.source.ip, datagram.target.ip
        shown = datagram.payload
        if protocol == ICMP:
            shown = ipv4(source, target, ICMP, shown, IpLabel(label.hop_limit, label.traffic_class))
        for which in self._sockets.binding.ports_of(host).at(RawSocket, protocol):
            known = which.remote is None or plain(which.remote.ip) == source
            if known and hears(which, target) and _passes(which, datagram) and not self._sockets.is_abandoned(which):
                self._give(which, datagram, shown)

    def _show_to_ping_socket(self, host: HostState, answer: Datagram) -> None:
        identifier = int.from_bytes(answer.payload[4:6], "big")
        for which in self._sockets.binding.ports_of(host).at(PingSocket, identifier):
            if which.protocol != answer.protocol or not hears(which, answer.target.ip):
                continue
            if not self._sockets.is_abandoned(which):
                self._give(which, answer)
                return


def _passes(which: RawSocket, datagram: Datagram) -> bool:
    """Return whether a raw socket's filter lets a message through. For ICMP, Linux filters types below 32 only (raw(7))."""
    kind = datagram.payload[0] if datagram.payload else 0
    blocked = which.options.get(FILTER[datagram.protocol], b"")
    return kind // 8 >= len(blocked) or not blocked[kind // 8] >> kind % 8 & 1
