"""What the hosts' interfaces see: conversations by socket, datagrams, and a file per host. Changes nothing that happens."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.capture.conversation import Conversation, Side
from rsg_server.capture.frames import Endpoint, IpLabel, port_unreachable, udp
from rsg_server.capture.pcap import PcapFile

if TYPE_CHECKING:
    from rsg_server.sockets.pair import Address, SimulatedSocket

FILE = "eth0.pcap"
_SPREAD = 0x9E3779B1


class Capture:
    """`hosts` have their traffic written; `folder` tells where, `epoch_ns` when virtual time begins. Loopback is not seen."""

    def __init__(self, hosts: Collection[str], folder: Callable[[str], Path], epoch_ns: int) -> None:
        self._epoch_ns = epoch_ns
        self._files = {name: PcapFile(folder(name) / FILE) for name in hosts}
        self._conversations: dict[int, tuple[Conversation, Side]] = {}  # by number of the socket
        self._datagrams = 0

    def record(self, host: str, moment_ns: int, frame: bytes) -> None:
        """A frame passes a host's interface."""
        file = self._files.get(host)
        if file is not None:
            file.add(self._epoch_ns + moment_ns, frame)

    def close(self) -> None:
        """Write the files."""
        files, self._files = self._files, {}
        for file in files.values():
            file.close()

    # TCP

    def syn(self, client: SimulatedSocket, server_host: str) -> list[bytes]:
        """A client asks, again perhaps."""
        found = self._conversations.get(client.number)
        if found is None:
            assert client.local is not None and client.remote is not None
            near = Side(client.host.name, _endpoint(client.local), _first(client.number, 1))
            far = Side(server_host, _endpoint(client.remote), _first(client.number, 2))
            found = (Conversation(near, far, self.record), near)
            self._conversations[client.number] = found
        return [found[0].syn()]

    def syn_ack(self, client: SimulatedSocket, served: SimulatedSocket, moment_ns: int) -> list[bytes]:
        """A listener answers."""
        conversation, near = self._conversations[client.number]
        self._conversations[served.number] = (conversation, conversation.other(near))
        return [conversation.syn_ack(moment_ns)]

    def refusal(self, client: SimulatedSocket) -> list[bytes]:
        """Nobody listens."""
        return [self._conversations.pop(client.number)[0].refusal()]

    def established(self, client: SimulatedSocket, moment_ns: int, latency_ns: int) -> None:
        """The client is connected."""
        found = self._conversations.get(client.number)
        if found is not None:
            found[0].established(moment_ns, latency_ns)

    def data(
        self, sender: SimulatedSocket, offset: int, data: bytes, begin_ns: int, left_ns: int, arrived_ns: int | None
    ) -> None:
        """See Conversation.data."""
        found = self._conversations.get(sender.number)
        if found is not None:
            found[0].data(found[1], offset, data, begin_ns, left_ns, arrived_ns)

    def end(self, sender: SimulatedSocket, left_ns: int, arrived_ns: int | None) -> None:
        """See Conversation.end."""
        found = self._conversations.get(sender.number)
        if found is not None:
            found[0].end(found[1], left_ns, arrived_ns)

    def reset(self, sender: SimulatedSocket, moment_ns: int) -> list[bytes]:
        """RST."""
        found = self._conversations.get(sender.number)
        return [] if found is None else [found[0].reset(found[1], moment_ns)]

    # UDP

    def datagram(self, source: Address, target: Address, data: bytes, hop_limit: int, traffic_class: int) -> list[bytes]:
        """A datagram, in fragments where it is large."""
        self._datagrams += 1
        return udp(_endpoint(source), _endpoint(target), data, IpLabel(hop_limit, traffic_class, self._datagrams))

    @staticmethod
    def unreachable(source: Address, target: Address, data: bytes) -> list[bytes]:
        """ICMP's answer to a datagram from `source` that nobody takes at `target`."""
        return port_unreachable(_endpoint(target), _endpoint(source), data)


def _endpoint(address: Address) -> Endpoint:
    """IPv4 in IPv6's clothes is IPv4 on the wire."""
    ip = address.ip
    return Endpoint(ip[12:] if len(ip) == 16 and ip[:12] == b"\0" * 10 + b"\xff\xff" else ip, address.port)


def _first(number: int, side: int) -> int:
    """An initial sequence number that is always the same."""
    return (2 * number + side) * _SPREAD & 0xFFFFFFFF
