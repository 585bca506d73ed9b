"""The header of each datagram between shim and server: struct simunix_datagram of csrc/shared/protocol.h.

The sender's shim writes the target and the fields of the IP header that the application has set (ancillary data). The
server writes the source, and the fields that the receiving application wants to see.
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rsg_server._native import ffi
from rsg_server.capture.frames import ICMP, ICMPV6, UDP
from rsg_server.protocol import DATAGRAM_HEADER_BYTES, DatagramField
from rsg_server.sockets.pair import Address
from rsg_server.sockets.ports import in_family

if TYPE_CHECKING:
    from rsg_server.sockets.pair import SimulatedSocket

_CODES = {"uint8_t": "B", "uint16_t": "H", "int64_t": "q", "uint8_t[16]": "16s"}
"""The letters by which Python's module struct names the C types of the header's fields."""
_FIELDS = ffi.typeof("struct simunix_datagram").fields
_HEADER = struct.Struct("@" + "".join("x" if name == "unused" else _CODES[field.type.cname] for name, field in _FIELDS))
assert _HEADER.size == DATAGRAM_HEADER_BYTES
DEFAULT_HOP_LIMIT = 64
HEADERS_BYTES = {UDP: 28, ICMP: 20, ICMPV6: 40}
"""The bytes of the IP packet besides the application's data, by protocol; for UDP as in IPv4."""
SENDS = {4: ((0, 2), (0, 1)), 6: ((41, 16), (41, 67))}
"""The socket options that set hop limit and traffic class, by address family: IP_TTL, IP_TOS; IPV6_UNICAST_HOPS,
IPV6_TCLASS.
"""
_WANTS_TIME = {(1, 29): DatagramField.TIME, (1, 35): DatagramField.TIME_NS, (1, 37): DatagramField.TIMES}
"""The options SO_TIMESTAMP, SO_TIMESTAMPNS and SO_TIMESTAMPING, in the form that 64-bit programs use."""
WANTS = {
    4: {
        (0, 12): DatagramField.HOP_LIMIT,  # IP_RECVTTL
        (0, 13): DatagramField.TRAFFIC_CLASS,  # IP_RECVTOS
        (0, 8): DatagramField.DESTINATION,  # IP_PKTINFO
        **_WANTS_TIME,
    },
    6: {
        (41, 51): DatagramField.HOP_LIMIT,  # IPV6_RECVHOPLIMIT
        (41, 66): DatagramField.TRAFFIC_CLASS,  # IPV6_RECVTCLASS
        (41, 49): DatagramField.DESTINATION,  # IPV6_RECVPKTINFO
        **_WANTS_TIME,
    },
}
"""The socket options by which a receiver asks for ancillary data, by its address family."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The header that a sender's shim has written.

    If `target` is None, the datagram goes to the socket's peer; `given` says which other fields the application has set.
    """

    target: Address | None
    given: int
    hop_limit: int
    traffic_class: int

    @classmethod
    def of(cls, message: bytes) -> Sent:
        """Return the header at the beginning of a message, which must be long enough for one."""
        family, _, port, raw, hop_limit, traffic_class, given, _, _ = _HEADER.unpack_from(message)
        target = None if family == 0 else Address(raw[:4] if family == 4 else raw, port)
        return cls(target, given, hop_limit, traffic_class)


@dataclass(frozen=True, slots=True)
class Label:
    """The fields of a datagram's IP header besides the addresses."""

    hop_limit: int
    traffic_class: int

    @classmethod
    def of(cls, sender: SimulatedSocket, sent: Sent) -> Label:
        """Return the fields of a label: each as the header gives it, else as the socket's options set it, else the default."""
        hops, traffic = (_small(sender, key) for key in SENDS[sender.family])
        return cls(
            hop_limit=sent.hop_limit if sent.given & DatagramField.HOP_LIMIT else DEFAULT_HOP_LIMIT if hops is None else hops,
            traffic_class=sent.traffic_class if sent.given & DatagramField.TRAFFIC_CLASS else traffic or 0,
        )


def _small(which: SimulatedSocket, key: tuple[int, int]) -> int | None:
    """Return an option's value from 0 to 255; None if it was not set, or was set to -1 (the default) or to no valid number."""
    value = int.from_bytes(which.options.get(key, b"\xff")[:4], "little", signed=True)
    return value if 0 <= value <= 255 else None


@dataclass(frozen=True, slots=True)
class Datagram:
    """A datagram on its way from one socket to another."""

    source: Address
    target: Address
    label: Label
    payload: bytes
    protocol: int = UDP

    @property
    def size_bytes(self) -> int:
        """The bytes of the datagram on the network, headers included."""
        return len(self.payload) + HEADERS_BYTES[self.protocol]

    def shown_to(self, receiver: SimulatedSocket, arrived_ns: int, payload: bytes | None = None) -> bytes:
        """Return the message for a receiver's shim: the header, and the payload or the bytes that are shown in its place.

        `arrived_ns` is the time of arrival by CLOCK_REALTIME.
        """
        family, label = receiver.family, self.label
        wanted = sum(bit for key, bit in WANTS[family].items() if _small(receiver, key))
        source, target = in_family(self.source.ip, family), in_family(self.target.ip, family)
        fields = (label.hop_limit, label.traffic_class, wanted, target, arrived_ns)
        return _HEADER.pack(family, 0, self.source.port, source, *fields) + (self.payload if payload is None else payload)


REFUSED = _HEADER.pack(4, errno.ECONNREFUSED, 0, b"", 0, 0, 0, b"", 0)
"""The message that tells a receiver's shim of ICMP's "port unreachable"."""
