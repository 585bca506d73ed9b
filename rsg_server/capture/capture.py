"""Captures the packets that pass the network interfaces of hosts, as tcpdump would, into one pcap file for each host.

TCP connections become `Conversation` objects, one for each pair of sockets; UDP and ICMP become packets at once. A
capture changes nothing in the simulation: it reads sockets through `CapturedSocket` only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Protocol

from rsg_server.capture.conversation import Conversation, Side
from rsg_server.capture.frames import Endpoint, IpLabel, icmp, port_unreachable, udp
from rsg_server.capture.pcap import PcapFile

FILE = "eth0.pcap"
_SPREAD = 0x9E3779B1


class SocketAddress(Protocol):
    """The address of a socket: an IP address of 4 or 16 bytes, and a port."""

    @property
    def ip(self) -> bytes: ...
    @property
    def port(self) -> int: ...


class NamedHost(Protocol):
    """The host that a captured socket belongs to; only its name is used."""

    @property
    def name(self) -> str: ...


class CapturedSocket(Protocol):
    """The part of a TCP socket that a capture reads. `number` differs from that of every other socket of the run."""

    @property
    def number(self) -> int: ...
    @property
    def host(self) -> NamedHost: ...
    @property
    def local(self) -> SocketAddress | None: ...
    @property
    def remote(self) -> SocketAddress | None: ...


class Capture:
    """Writes the packets of `hosts`, except loopback, to `folder(host)`/eth0.pcap.

    `epoch_ns` is the date of virtual time 0, in ns since 1970, for the stamps of the packets.
    """

    def __init__(self, hosts: Collection[str], folder: Callable[[str], Path], epoch_ns: int) -> None:
        self._epoch_ns = epoch_ns
        self._files = {name: PcapFile(folder(name) / FILE) for name in hosts}
        # conversation and side of each socket, by the socket's number
        self._conversations: dict[int, tuple[Conversation, Side]] = {}
        self._datagrams = 0

    def record(self, host: str, moment_ns: int, frame: bytes) -> None:
        """Add a frame to the capture of a host whose interface it passes at `moment_ns`; hosts that are not captured
        are ignored.
        """
        file = self._files.get(host)
        if file is not None:
            file.add(self._epoch_ns + moment_ns, frame)

    def close(self) -> None:
        """Write the capture files of all hosts and close them."""
        files, self._files = self._files, {}
        for file in files.values():
            file.close()

    # TCP connections

    def syn(self, client: CapturedSocket, server_host: str) -> list[bytes]:
        """Return the frames of a client's SYN, also if it is sent again; the first SYN begins the socket's conversation."""
        found = self._conversations.get(client.number)
        if found is None:
            assert client.local is not None and client.remote is not None
            near = Side(client.host.name, _endpoint(client.local), _first(client.number, 1))
            far = Side(server_host, _endpoint(client.remote), _first(client.number, 2))
            found = (Conversation(near, far, self.record), near)
            self._conversations[client.number] = found
        return [found[0].syn()]

    def syn_ack(self, client: CapturedSocket, served: CapturedSocket, moment_ns: int) -> list[bytes]:
        """Return the frames of a listener's SYN-ACK to a client. `served` is the new socket that accept(2) will return."""
        conversation, near = self._conversations[client.number]
        self._conversations[served.number] = (conversation, conversation.other(near))
        return [conversation.syn_ack(moment_ns)]

    def refusal(self, client: CapturedSocket) -> list[bytes]:
        """Return the frames of the RST with which a host answers a SYN to a port where no socket listens."""
        return [self._conversations.pop(client.number)[0].refusal()]

    def established(self, client: CapturedSocket, moment_ns: int, latency_ns: int) -> None:
        """Record the ACK with which a client ends the handshake, when it has received the SYN-ACK at `moment_ns`."""
        found = self._conversations.get(client.number)
        if found is not None:
            found[0].established(moment_ns, latency_ns)

    def data(
        self, sender: CapturedSocket, offset: int, data: bytes, begin_ns: int, left_ns: int, arrived_ns: int | None
    ) -> None:
        """Record bytes of a TCP stream; see Conversation.data."""
        found = self._conversations.get(sender.number)
        if found is not None:
            found[0].data(found[1], offset, data, begin_ns, left_ns, arrived_ns)

    def end(self, sender: CapturedSocket, left_ns: int, arrived_ns: int | None) -> None:
        """Record the end of one direction of a TCP stream; see Conversation.end."""
        found = self._conversations.get(sender.number)
        if found is not None:
            found[0].end(found[1], left_ns, arrived_ns)

    def reset(self, sender: CapturedSocket, moment_ns: int) -> list[bytes]:
        """Return the frames of the RST by which a socket aborts its connection; [] if the capture has not seen the SYN."""
        found = self._conversations.get(sender.number)
        return [] if found is None else [found[0].reset(found[1], moment_ns)]

    # UDP and ICMP

    def datagram(
        self, source: SocketAddress, target: SocketAddress, data: bytes, hop_limit: int, traffic_class: int
    ) -> list[bytes]:
        """Return the frames of a UDP datagram: several IP fragments if it is larger than the MTU."""
        self._datagrams += 1
        return udp(_endpoint(source), _endpoint(target), data, IpLabel(hop_limit, traffic_class, self._datagrams))

    def icmp(self, source: bytes, target: bytes, message: bytes, hop_limit: int, traffic_class: int) -> list[bytes]:
        """Return the frames of a message of ICMP or ICMPv6."""
        self._datagrams += 1
        return icmp(source, target, message, IpLabel(hop_limit, traffic_class, self._datagrams))

    @staticmethod
    def unreachable(source: SocketAddress, target: SocketAddress, data: bytes) -> list[bytes]:
        """Return the frames of the ICMP message "port unreachable", for a datagram from `source` to `target`, where no
        socket is bound.
        """
        return port_unreachable(_endpoint(target), _endpoint(source), data)


def _endpoint(address: SocketAddress) -> Endpoint:
    """Return an address as packets carry it: an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) becomes IPv4."""
    ip = address.ip
    return Endpoint(ip[12:] if len(ip) == 16 and ip[:12] == b"\0" * 10 + b"\xff\xff" else ip, address.port)


def _first(number: int, side: int) -> int:
    """Return the initial TCP sequence number of one side of a connection; it is the same in every run."""
    return (2 * number + side) * _SPREAD & 0xFFFFFFFF
