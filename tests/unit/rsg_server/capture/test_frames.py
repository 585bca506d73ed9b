"""Bytes of frames, checked against sums made by hand and against dpkt."""

from __future__ import annotations

import struct

import dpkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.capture.frames import MTU, Endpoint, Flags, IpLabel, checksum, packet, tcp, udp

NEAR, FAR = Endpoint(b"\x0a\0\0\1", 40000), Endpoint(b"\x0a\0\0\2", 80)
NEAR6, FAR6 = Endpoint(b"\xfd" + bytes(14) + b"\1", 40000), Endpoint(b"\xfd" + bytes(14) + b"\2", 80)


def slow_checksum(data: bytes) -> int:
    """RFC 1071, word by word."""
    total = 0
    for (word,) in struct.iter_unpack("!H", data + b"\0" * (len(data) % 2)):
        total += word
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@given(st.binary(min_size=1, max_size=200).filter(any))
def test_checksum(data: bytes) -> None:
    assert checksum(data) == slow_checksum(data)


@given(st.binary(max_size=1460), st.booleans())
def test_segments_sum_up(data: bytes, is_old: bool) -> None:
    near, far = (NEAR, FAR) if is_old else (NEAR6, FAR6)
    data = data[:1440]
    frame = tcp(near, far, 1, 2, Flags.ACK, data)
    head = 14 + (20 if is_old else 40)
    segment = frame[head:]
    pseudo = near.ip + far.ip + (struct.pack("!HH", 6, len(segment)) if is_old else struct.pack("!IHBB", len(segment), 0, 0, 6))
    assert slow_checksum(pseudo + segment) == 0
    assert segment.endswith(data)
    if is_old:
        assert slow_checksum(frame[14:34]) == 0


def as_dpkt_does(near: Endpoint, far: Endpoint, sequence: int, flags: Flags, data: bytes) -> bytes:
    segment = dpkt.tcp.TCP(sport=near.port, dport=far.port, seq=sequence, ack=7, flags=int(flags), win=2048, data=data)
    if len(near.ip) == 4:
        packet = dpkt.ip.IP(src=near.ip, dst=far.ip, p=dpkt.ip.IP_PROTO_TCP, df=1, len=40 + len(data), data=segment)
    else:
        packet = dpkt.ip6.IP6(src=near.ip, dst=far.ip, nxt=dpkt.ip.IP_PROTO_TCP, hlim=64, plen=len(segment), data=segment)
        packet.extension_hdrs = {}
    macs = {"src": b"\x02\x42" + near.ip[-4:], "dst": b"\x02\x42" + far.ip[-4:]}
    return bytes(dpkt.ethernet.Ethernet(type=0x800 if len(near.ip) == 4 else 0x86DD, data=packet, **macs))


@given(st.binary(max_size=1400), st.integers(0, 2**32 - 1), st.booleans())
def test_segments_are_those_that_dpkt_builds(data: bytes, sequence: int, is_old: bool) -> None:
    near, far = (NEAR, FAR) if is_old else (NEAR6, FAR6)
    flags = Flags.ACK | Flags.PSH
    assert tcp(near, far, sequence, 7, flags, data) == as_dpkt_does(near, far, sequence, flags, data)


@pytest.mark.parametrize(("near", "far"), [(NEAR, FAR), (NEAR6, FAR6)])
@pytest.mark.parametrize("size", [0, 1452, 1473, 9000, 65000])
def test_datagrams_are_cut_into_fragments(near: Endpoint, far: Endpoint, size: int) -> None:
    data = bytes(index % 251 for index in range(size))
    frames = udp(near, far, data, IpLabel(number=7))
    assert all(len(frame) <= 14 + MTU for frame in frames)
    assert len(frames) == 1 if size <= 1452 else len(frames) > 1
    head = 14 + (20 if len(near.ip) == 4 else 40) + (8 if len(near.ip) == 16 and len(frames) > 1 else 0)
    assert b"".join(frame[head:] for frame in frames)[8:] == data


def test_a_packet_of_just_the_mtu_is_whole() -> None:
    assert len(packet(NEAR.ip, FAR.ip, 17, bytes(1480))) == 1
    assert len(packet(NEAR.ip, FAR.ip, 17, bytes(1481))) == 2
