"""Makes the bytes of Ethernet frames that contain IPv4, IPv6, TCP, UDP and ICMP, with checksums, by pure functions.

The library dpkt, with which this project reads captures, makes equal frames (the tests compare them). But dpkt takes
five times as long, which matters for hundreds of thousands of segments, and dpkt does not fragment packets.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntFlag

MTU = 1500
TCP, UDP, ICMP, ICMPV6 = 6, 17, 1, 58
_FRAGMENT_HEADER = 44
_DO_NOT_FRAGMENT, _MORE_FRAGMENTS = 0x4000, 0x2000
_TCP_HEADER_BYTES = 20
SYN_OPTIONS_END = b"\x04\x02\x01\x03\x03\x07\x01\x01"
"""The end of the TCP options in a SYN: SACK permitted, no-op, window scale 7, two no-ops."""
WINDOW = 2048
"""The window in TCP headers. Scaled by 128 this is 256 KiB, the most bytes that one direction has under way."""


class Flags(IntFlag):
    """The flags of a TCP header."""

    FIN = 1
    SYN = 2
    RST = 4
    PSH = 8
    ACK = 16


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One end of a packet's way: an IP address of 4 or 16 bytes, and a port."""

    ip: bytes
    port: int


@dataclass(frozen=True, slots=True)
class IpLabel:
    """The fields of an IP header that differ between datagrams of one pair of addresses."""

    hop_limit: int = 64
    traffic_class: int = 0
    number: int = 0  # the identification of the packet, which all its fragments carry


PLAIN = IpLabel()


def mss(ip: bytes) -> int:
    """Return the most bytes of TCP payload in one frame (the MSS), for an IP address of 4 or 16 bytes."""
    return MTU - _TCP_HEADER_BYTES - (20 if len(ip) == 4 else 40)


def checksum(data: bytes) -> int:
    """Return the internet checksum (RFC 1071) of some bytes.

    A sum of 16-bit words with end-around carry is a remainder modulo 65535, which Python computes quickly.
    """
    if len(data) % 2:
        data += b"\0"
    return (65535 - int.from_bytes(data, "big") % 65535) % 65535


def _pseudo_header(source: bytes, destination: bytes, protocol: int, size: int) -> bytes:
    if len(source) == 4:
        return source + destination + struct.pack("!BBH", 0, protocol, size)
    return source + destination + struct.pack("!IHBB", size, 0, 0, protocol)


def mac(ip: bytes) -> bytes:
    """Return the hardware address (6 bytes) of the host with this IP address; rsg_server.sockets.interfaces gives the
    host's interface the same address.
    """
    return b"\x02\x42" + ip[-4:]


def _ethernet(source: bytes, destination: bytes, packet: bytes) -> bytes:
    kind = b"\x08\x00" if len(source) == 4 else b"\x86\xdd"
    return mac(destination) + mac(source) + kind + packet


def ipv4(
    source: bytes,
    destination: bytes,
    protocol: int,
    payload: bytes,
    label: IpLabel,
    fragment: int = _DO_NOT_FRAGMENT,
) -> bytes:
    """Return the bytes of an IPv4 packet, or of one fragment of it, without the Ethernet header."""
    header = struct.pack(
        "!BBHHHBBH4s4s",
        0x45,
        label.traffic_class,
        20 + len(payload),
        label.number & 0xFFFF,
        fragment,
        label.hop_limit,
        protocol,
        0,
        source,
        destination,
    )
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + payload


def _ipv6(source: bytes, destination: bytes, protocol: int, payload: bytes, label: IpLabel) -> bytes:
    first = 6 << 28 | label.traffic_class << 20
    return struct.pack("!IHBB", first, len(payload), protocol, label.hop_limit) + source + destination + payload


def packet(source: bytes, destination: bytes, protocol: int, payload: bytes, label: IpLabel = PLAIN) -> list[bytes]:
    """Return the Ethernet frames that carry an IP payload: several fragments if it is larger than the MTU."""
    if len(source) == 4:
        room = (MTU - 20) // 8 * 8
        if len(payload) <= MTU - 20:
            return [_ethernet(source, destination, ipv4(source, destination, protocol, payload, label, _DO_NOT_FRAGMENT))]
        pieces = [(start, payload[start : start + room]) for start in range(0, len(payload), room)]
        offsets = [start // 8 | (_MORE_FRAGMENTS if start + room < len(payload) else 0) for start, _ in pieces]
        return [
            _ethernet(source, destination, ipv4(source, destination, protocol, piece, label, offset))
            for (_, piece), offset in zip(pieces, offsets, strict=True)
        ]
    room = (MTU - 48) // 8 * 8
    if len(payload) <= MTU - 40:
        return [_ethernet(source, destination, _ipv6(source, destination, protocol, payload, label))]
    frames = []
    for start in range(0, len(payload), room):
        more = start + room < len(payload)
        header = struct.pack("!BBHI", protocol, 0, start | more, label.number)
        piece = header + payload[start : start + room]
        frames.append(_ethernet(source, destination, _ipv6(source, destination, _FRAGMENT_HEADER, piece, label)))
    return frames


def tcp(source: Endpoint, destination: Endpoint, sequence: int, acknowledged: int, flags: Flags, data: bytes = b"") -> bytes:
    """Return the Ethernet frame of one TCP segment. A SYN has the options that Linux sends, but for timestamps."""
    options = b""
    if flags & Flags.SYN:
        options = struct.pack("!BBH", 2, 4, mss(source.ip)) + SYN_OPTIONS_END
    head = struct.pack(
        "!HHIIBBHHH",
        source.port,
        destination.port,
        sequence & 0xFFFFFFFF,
        acknowledged & 0xFFFFFFFF if flags & Flags.ACK else 0,
        (_TCP_HEADER_BYTES + len(options)) // 4 << 4,
        int(flags),
        0 if flags & Flags.RST else 65535 if flags & Flags.SYN else WINDOW,
        0,
        0,
    )
    segment = head + options + data
    total = checksum(_pseudo_header(source.ip, destination.ip, TCP, len(segment)) + segment)
    segment = segment[:16] + struct.pack("!H", total) + segment[18:]
    return packet(source.ip, destination.ip, TCP, segment)[0]


def _udp_datagram(source: Endpoint, destination: Endpoint, data: bytes) -> bytes:
    head = struct.pack("!HHHH", source.port, destination.port, 8 + len(data), 0)
    total = checksum(_pseudo_header(source.ip, destination.ip, UDP, 8 + len(data)) + head + data)
    return head[:6] + struct.pack("!H", total or 0xFFFF) + data


def udp(source: Endpoint, destination: Endpoint, data: bytes, label: IpLabel = PLAIN) -> list[bytes]:
    """Return the Ethernet frames of a UDP datagram."""
    return packet(source.ip, destination.ip, UDP, _udp_datagram(source, destination, data), label)


def with_icmp_checksum(source: bytes, destination: bytes, message: bytes) -> bytes:
    """Return a message of ICMP, or of ICMPv6 between IPv6 addresses, with its checksum filled in."""
    message = message[:2] + b"\0\0" + message[4:]
    pseudo = b"" if len(source) == 4 else _pseudo_header(source, destination, ICMPV6, len(message))
    return message[:2] + struct.pack("!H", checksum(pseudo + message)) + message[4:]


def icmp(source: bytes, destination: bytes, message: bytes, label: IpLabel = PLAIN) -> list[bytes]:
    """Return the Ethernet frames of a message of ICMP or ICMPv6."""
    return packet(source, destination, ICMP if len(source) == 4 else ICMPV6, message, label)


def port_unreachable(refuser: Endpoint, sender: Endpoint, data: bytes) -> list[bytes]:
    """Return the Ethernet frames of the ICMP or ICMPv6 message "port unreachable", which quotes the beginning of the
    datagram.
    """
    original = _udp_datagram(sender, refuser, data)
    if len(sender.ip) == 4:
        head, quoted = struct.pack("!BBHI", 3, 3, 0, 0), ipv4(sender.ip, refuser.ip, UDP, original, PLAIN)[:548]
    else:
        head, quoted = struct.pack("!BBHI", 1, 4, 0, 0), _ipv6(sender.ip, refuser.ip, UDP, original, PLAIN)[: 1280 - 48]
    return icmp(refuser.ip, sender.ip, with_icmp_checksum(refuser.ip, sender.ip, head + quoted))
