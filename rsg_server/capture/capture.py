"""What the hosts' network interfaces see: a conversation per pair of sockets, datagrams, and a capture file per host.

A capture only looks on: nothing here changes what happens or when. Of sockets it knows what `CapturedSocket` asks for.
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
    """An address of 4 or 16 bytes, and a port."""

    @property
    def ip(self) -> bytes: ...
    @property
    def port(self) -> int: ...


class NamedHost(Protocol):
    """The host of a socket."""

    @property
    def name(self) -> str: ...


class CapturedSocket(Protocol):
    """What a capture needs of a TCP socket; `number` is the socket's own for the whole run."""

    @property
    def number(self) -> int: ...
    @property
    def host(self) -> NamedHost: ...
    @property
    def local(self) -> SocketAddress | None: ...
    @property
    def remote(self) -> SocketAddress | None: ...


class Capture:
    """Writes the traffic of `hosts`, except loopback, to eth0.pcap in `folder(host)`; virtual time begins at `epoch_ns`."""

    def __init__(self, hosts: Collection[str], folder: Callable[[str], Path], epoch_ns: int) -> None:
        self._epoch_ns = epoch_ns
        self._files = {name: PcapFile(folder(name) / FILE) for name in hosts}
        self._conversations: dict[int, tuple[Conversation, Side]] = {}  # by number of the socket
        self._datagrams = 0

    def record(self, host: str, moment_ns: int, frame: bytes) -> None:
        """A frame passes a host's interface; hosts that are not captured are left out."""
        file = self._files.get(host)
        if file is not None:
            file.add(self._epoch_ns + moment_ns, frame)

    def close(self) -> None:
        """Write the files."""
        files, self._files = self._files, {}
        for file in files.values():
            file.close()

    # TCP

    def syn(self, client: CapturedSocket, server_host: str) -> list[bytes]:
        """The SYN of a client, perhaps sent again."""
        found = self._conversations.get(client.number)
        if found is None:
            assert client.local is not None and client.remote is not None
            near = Side(client.host.name, _endpoint(client.local), _first(client.number, 1))
            far = Side(server_host, _endpoint(client.remote), _first(client.number, 2))
            found = (Conversation(near, far, self.record), near)
            self._conversations[client.number] = found
        return [found[0].syn()]

    def syn_ack(self, client: CapturedSocket, served: CapturedSocket, moment_ns: int) -> list[bytes]:
        """The answer of a listener: `served` is the socket that accept(2) returns."""
        conversation, near = self._conversations[client.number]
        self._conversations[served.number] = (conversation, conversation.other(near))
        return [conversation.syn_ack(moment_ns)]

    def refusal(self, client: CapturedSocket) -> list[bytes]:
        """The RST of a host where no socket listens."""
        return [self._conversations.pop(client.number)[0].refusal()]

    def established(self, client: CapturedSocket, moment_ns: int, latency_ns: int) -> None:
        """The client has got the answer and acknowledges it."""
        found = self._conversations.get(client.number)
        if found is not None:
            found[0].established(moment_ns, latency_ns)

    def data(
        self, sender: CapturedSocket, offset: int, data: bytes, begin_ns: int, left_ns: int, arrived_ns: int | None
    ) -> None:
        """Bytes of a stream; see Conversation.data."""
        found = self._conversations.get(sender.number)
        if found is not None:
            found[0].data(found[1], offset, data, begin_ns, left_ns, arrived_ns)

    def end(self, sender: CapturedSocket, left_ns: int, arrived_ns: int | None) -> None:
        """The end of a stream; see Conversation.end."""
        found = self._conversations.get(sender.number)
        if found is not None:
            found[0].end(found[1], left_ns, arrived_ns)

    def reset(self, sender: CapturedSocket, moment_ns: int) -> list[bytes]:
        """The RST with which a socket breaks its connection off; none for a socket that the capture has not seen open."""
        found = self._conversations.get(sender.number)
        return [] if found is None else [found[0].reset(found[1], moment_ns)]

    # UDP

    def datagram(
        self, source: SocketAddress, target: SocketAddress, data: bytes, hop_limit: int, traffic_class: int
    ) -> list[bytes]:
        """The frames of a datagram: fragments, if it is larger than the MTU."""
        self._datagrams += 1
        return udp(_endpoint(source), _endpoint(target), data, IpLabel(hop_limit, traffic_class, self._datagrams))

    def icmp(self, source: bytes, target: bytes, message: bytes, hop_limit: int, traffic_class: int) -> list[bytes]:
        """The frames of a message of ICMP or ICMPv6."""
        self._datagrams += 1
        return icmp(source, target, message, IpLabel(hop_limit, traffic_class, self._datagrams))

    @staticmethod
    def unreachable(source: SocketAddress, target: SocketAddress, data: bytes) -> list[bytes]:
        """The ICMP message for a datagram from `source` to a port at `target` that no socket has."""
        return port_unreachable(_endpoint(target), _endpoint(source), data)


def _endpoint(address: SocketAddress) -> Endpoint:
    """An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) is IPv4 on the wire."""
    ip = address.ip
    return Endpoint(ip[12:] if len(ip) == 16 and ip[:12] == b"\0" * 10 + b"\xff\xff" else ip, address.port)


def _first(number: int, side: int) -> int:
    """The initial sequence number of one side of a conversation; equal in every run."""
    return (2 * number + side) * _SPREAD & 0xFFFFFFFF
