"""A capture records sockets and datagrams in a file per host, and nothing for hosts that are not captured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import dpkt

from rsg_server.capture.capture import Capture


@dataclass(frozen=True, slots=True)
class Address:
    ip: bytes
    port: int


@dataclass(frozen=True, slots=True)
class NamedHost:
    name: str


@dataclass(frozen=True, slots=True)
class Socket:
    number: int
    host: NamedHost
    local: Address | None
    remote: Address | None


NEAR, FAR = Address(b"\x0a\0\0\1", 40000), Address(b"\x0a\0\0\2", 80)
MAPPED = Address(bytes(10) + b"\xff\xff" + FAR.ip, 80)
CLIENT, SERVED = Socket(1, NamedHost("a"), NEAR, MAPPED), Socket(2, NamedHost("b"), FAR, NEAR)


def test_only_the_hosts_that_are_asked_for_are_written(tmp_path: Path) -> None:
    capture = Capture(["a"], lambda host: tmp_path, 10**18)
    capture.record("a", 5, b"frame")
    capture.record("b", 6, b"another")
    capture.close()
    capture.close()  # harmless
    with (tmp_path / "eth0.pcap").open("rb") as file:
        assert [data for _, data in dpkt.pcap.Reader(file)] == [b"frame"]


def test_a_mapped_address_is_ipv4_on_the_wire(tmp_path: Path) -> None:
    capture = Capture([], lambda host: tmp_path, 0)
    (frame,) = capture.syn(CLIENT, "b")
    assert dpkt.ethernet.Ethernet(frame).data.dst == FAR.ip
    assert capture.syn(CLIENT, "b") == [frame]  # sent again


def test_both_sockets_of_a_connection_are_one_conversation(tmp_path: Path) -> None:
    capture = Capture([], lambda host: tmp_path, 0)
    (syn,) = capture.syn(CLIENT, "b")
    (answer,) = capture.syn_ack(CLIENT, SERVED, 100)
    first = dpkt.ethernet.Ethernet(syn).data.data.seq
    assert dpkt.ethernet.Ethernet(answer).data.data.ack == first + 1
    (reset,) = capture.reset(SERVED, 200)
    assert dpkt.ethernet.Ethernet(reset).data.data.ack == first + 1


def test_a_socket_that_was_not_seen_to_connect_has_no_frames(tmp_path: Path) -> None:
    capture = Capture(["a"], lambda host: tmp_path, 0)
    capture.data(CLIENT, 0, b"data", 0, 1, 2)
    capture.end(CLIENT, 1, 2)
    capture.established(CLIENT, 1, 1)
    assert capture.reset(CLIENT, 3) == []


def test_datagrams_are_numbered(tmp_path: Path) -> None:
    capture = Capture([], lambda host: tmp_path, 0)
    frames = [capture.datagram(NEAR, FAR, b"data", 64, 0)[0] for _ in range(2)]
    assert [dpkt.ethernet.Ethernet(frame).data.id for frame in frames] == [1, 2]
    (answer,) = capture.unreachable(NEAR, FAR, b"data")
    assert dpkt.ethernet.Ethernet(answer).data.p == dpkt.ip.IP_PROTO_ICMP
