"""Datagrams above what a link carries: they are late, or lost; their senders wait where they would on a real host."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from simunix.testing import Cluster
from tests.needs import needs

needs_iperf = needs("iperf3")


def iperf(emulation: Cluster, sink: str, rate: str) -> Any:
    """What iperf3 reports in the end of two seconds of UDP at a rate, over 10 Mbit/s to a host with a link of its own."""
    emulation.network(bandwidth="10Mbps", latency="100us")
    emulation.host("far", bandwidth=sink).start(["iperf3", "-s", "-1"])
    client = emulation.host("near").start(["iperf3", "-u", "-c", "far", "-t", "2", "-b", rate, "-J"], at="1s")
    emulation.run(check=True)
    return json.loads(client.stdout)["end"]


@needs_iperf
@pytest.mark.parametrize(
    ("sink", "rate", "received", "is_lossy"),
    [("10Mbps", "2M", 2e6, False), ("10Mbps", "20M", 10e6, False), ("5Mbps", "20M", 5e6, True)],
)
def test_no_more_arrives_than_the_link_carries(
    emulation: Cluster, sink: str, rate: str, received: float, is_lossy: bool
) -> None:
    """Less its headers, 28 of 1,476 bytes. What exceeds the sender's own link waits in its socket; else it is lost."""
    end = iperf(emulation, sink, rate)
    assert end["sum_received"]["bits_per_second"] == pytest.approx(received, rel=0.025)
    assert end["sum_received"]["bits_per_second"] <= received * 1.003
    assert (end["sum"]["lost_packets"] > 0) is is_lossy


@needs_iperf
def test_a_flood_leaves_half_to_a_connection(emulation: Cluster) -> None:
    emulation.network(bandwidth="10Mbps", latency="100us")
    near, other, far = emulation.hosts("a[1-3]")
    for port in ("5201", "5202"):
        far.start(["iperf3", "-s", "-1", "-p", port])
    flood = near.start(["iperf3", "-u", "-c", "a3", "-t", "4", "-b", "8M", "-J"], at="1s")
    stream = other.start(["iperf3", "-c", "a3", "-p", "5202", "-t", "4", "-J"], at="1s")
    emulation.run(check=True)
    received = [json.loads(client.stdout)["end"]["sum_received"]["bits_per_second"] for client in (flood, stream)]
    assert received == pytest.approx([5e6 * 1448 / 1476, 5e6 * 0.97], rel=0.04)


def collect(count: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink:
        sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        sink.bind(("", 7000))
        begin = time.monotonic()
        heard = [int(sink.recv(2000)[:8]) for _ in range(count)]
        print(heard == sorted(heard), round(time.monotonic() - begin, 4))


def pour(count: int, name: str) -> None:
    """As fast as it goes; then close at once: all that was accepted is still sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
        source.connect((name, 7000))
        begin = time.monotonic()
        for number in range(count):
            source.send(b"%08d" % number + bytes(972 - 8))
        print(round(time.monotonic() - begin, 1))


def test_a_sender_waits_for_its_own_link(emulation: Cluster) -> None:
    """1,000 of 1,000 bytes over 1 MB/s: it takes a second but for what fits into the queues, and nothing is lost."""
    emulation.network(bandwidth="8Mbps", latency="0")
    near, far = emulation.hosts("a[1-2]")
    sink = far.start(emulation.python(collect, 1000))
    source = near.start(emulation.python(pour, 1000, "a2"), at="1s")
    emulation.run(check=True)
    assert 0.5 < float(source.stdout) < 0.85
    in_order, took = sink.stdout.split()
    assert in_order == "True"
    assert float(took) == pytest.approx(2.0, abs=0.1)


def refuse() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
        source.setblocking(False)
        source.connect(("a2", 7000))
        sent = 0
        try:
            while True:
                sent += source.send(b"0" * 972)
        except BlockingIOError:
            print(sent >= 50_000, end=" ")
        time.sleep(2)
        print(source.send(b"0" * 972))


def test_who_does_not_want_to_wait_is_told(emulation: Cluster) -> None:
    emulation.network(bandwidth="8Mbps", latency="0")
    near, far = emulation.hosts("a[1-2]")
    far.start(emulation.python(collect, 10_000))
    source = near.start(emulation.python(refuse), at="1s")
    emulation.run(until="10s")
    assert source.stdout == "True 972\n"


def test_two_senders_wait_in_turn(emulation: Cluster) -> None:
    """Both sockets of one host have the same part of its link."""
    emulation.network(bandwidth="8Mbps", latency="0")
    near, far = emulation.hosts("a[1-2]")
    far.start(emulation.python(collect, 2000))
    sources = [near.start(emulation.python(pour, 1000, "a2"), at="1s") for _ in range(2)]
    emulation.run(until="10s")
    assert [float(source.stdout) for source in sources] == pytest.approx([1.6, 1.6], abs=0.25)


@pytest.mark.slow
def test_a_flood_is_the_same_every_time(emulation: Cluster) -> None:
    emulation.network(bandwidth="8Mbps", latency="0")
    near, far = emulation.hosts("a[1-2]")
    far.start(emulation.python(collect, 2000))
    for _ in range(2):
        near.start(emulation.python(pour, 1000, "a2"), at="1s")
    assert len({emulation.run(until="10s").digest for _ in range(3)}) == 1


def test_what_waits_is_lost_with_its_host_and_sent_if_only_its_sender_dies(emulation: Cluster) -> None:
    """Killed, a sender's socket is closed like any other's; without power nothing is sent any more."""
    emulation.network(bandwidth="8Mbps", latency="0")
    near, far, other = emulation.hosts("a[1-3]")
    sinks = [host.start(emulation.python(count_heard), daemon=True) for host in (far, other)]
    killed = near.start(emulation.python(pour, 2000, "a2"), at="1s")
    killed.kill(at="1500ms")
    cut = emulation.host("a4")
    cut.start(emulation.python(pour, 2000, "a3"), at="1s")
    cut.crash(at="1500ms")
    other.start("sleep 4")
    emulation.run()
    after_kill, after_cut = (int(sink.stdout.split()[-1]) for sink in sinks)
    assert 700 < after_kill < 1000  # half a second's, and what waited in the queue and the socket
    assert 480 <= after_cut <= 500


def count_heard() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink:
        sink.bind(("", 7000))
        heard = 0
        while sink.recv(2000):
            heard += 1
            print(heard, flush=True)
