"""Bytes of frames, checked against sums made by hand, and capture files."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.capture.frames import MTU, Endpoint, Flags, IpLabel, checksum, packet, tcp, udp
from rsg_server.capture.pcap import PcapFile
from rsg_server.network.usage import split

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


def test_captures_are_sorted_and_leave_nothing_behind(tmp_path: Path) -> None:
    file = PcapFile(tmp_path / "eth0.pcap")
    big = bytes(700_000)  # twice this is spilled to disk
    for moment, frame in ((3, b"late"), (1, big), (2, big), (1, b"second of its moment")):
        file.add(5 * 10**9 + moment, frame)
    file.close()
    content = (tmp_path / "eth0.pcap").read_bytes()
    position, found = 24, []
    while position < len(content):
        seconds, nanoseconds, size, _ = struct.unpack_from("<IIII", content, position)
        found.append((seconds, nanoseconds, content[position + 16 : position + 16 + size]))
        position += 16 + size
    assert found == [(5, 1, big), (5, 1, b"second of its moment"), (5, 2, big), (5, 3, b"late")]
    assert [path.name for path in tmp_path.iterdir()] == ["eth0.pcap"]


def test_an_empty_capture_is_one(tmp_path: Path) -> None:
    PcapFile(tmp_path / "eth0.pcap").close()
    assert len((tmp_path / "eth0.pcap").read_bytes()) == 24


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**7), st.integers(1, 10**5))
def test_bytes_are_divided_among_intervals(begin: int, lasted: int, size: int, interval: int) -> None:
    parts = list(split(begin, begin + lasted, size, interval))
    assert sum(part for _, part in parts) == size
    assert all(part >= 0 for _, part in parts)
    most = interval * size / max(lasted, 1) + 1
    assert lasted == 0 or all(part <= most for _, part in parts)
    assert all(begin // interval <= index <= max(begin, begin + lasted - 1) // interval for index, _ in parts)
