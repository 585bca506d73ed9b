"""Capture files: sorted, complete to the nanosecond, and nothing else left behind."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from rsg_server.capture.pcap import PcapFile
from rsg_server.errors import ServerError


def test_the_header_says_nanoseconds_and_ethernet(tmp_path: Path) -> None:
    PcapFile(tmp_path / "eth0.pcap").close()
    header = struct.unpack("<IHHiIII", (tmp_path / "eth0.pcap").read_bytes())
    assert header == (0xA1B23C4D, 2, 4, 0, 0, 262_144, 1)


def test_every_nanosecond_since_1970_is_kept(tmp_path: Path) -> None:
    file = PcapFile(tmp_path / "eth0.pcap")
    file.add(1_700_000_000_123_456_789, b"frame")
    file.close()
    assert struct.unpack("<II", (tmp_path / "eth0.pcap").read_bytes()[24:32]) == (1_700_000_000, 123_456_789)


def test_a_file_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "eth0.pcap").mkdir()
    with pytest.raises(ServerError, match=r"eth0.pcap: the capture cannot be written: Is a directory; name fewer hosts"):
        PcapFile(tmp_path / "eth0.pcap").close()


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
