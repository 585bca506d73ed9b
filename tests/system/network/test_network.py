"""Programs see the round-trip times and bandwidths of the modelled network, and connections share links."""

from __future__ import annotations

import json
import selectors
import socket
import time
from pathlib import Path

import pytest

from simunix.testing import Cluster
from tests.needs import needs
from tests.system.load import busy_computer

PROGRAMS = Path(__file__).parents[1] / "programs"
LV08_FACTOR = 0.97


def answer() -> None:
    with socket.create_server(("", 7000)) as listener:
        peer, _ = listener.accept()
        while data := peer.recv(64):
            peer.sendall(data)


def ask(host: str) -> None:
    peer = socket.create_connection((host, 7000))
    for _ in range(5):
        start = time.monotonic_ns()
        peer.sendall(b"ping")
        peer.recv(64)
        print(time.monotonic_ns() - start)


@pytest.mark.parametrize("model", ["LV08", "CM02", "constant", "raw"])
def test_a_ping_over_tcp_takes_the_round_trip(emulation: Cluster, model: str) -> None:
    """Four links of 100 µs, and four bytes each way; within 1 µs, in every model."""
    emulation.network(bandwidth="1Gbps", latency="100us", model=model)
    near, far = emulation.hosts("a[1-2]")
    far.start(answer)
    client = near.start(emulation.python(ask, "a2"), at="1s")
    emulation.run(check=True)
    assert all(0 <= int(line) - 400_000 <= 1_000 for line in client.stdout.split())


def swallow(count: int) -> None:
    """Read so many connections to their ends, closing each there."""
    with socket.create_server(("", 7000), backlog=count) as listener, selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        left = count
        while left:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    selector.register(listener.accept()[0], selectors.EVENT_READ)
                    continue
                peer = key.fileobj
                assert isinstance(peer, socket.socket)
                if not peer.recv(1 << 20):
                    selector.unregister(peer)
                    peer.close()
                    left -= 1


def start_burst(emulation: Cluster, count: int, size: int, sink_bandwidth: str) -> None:
    """So many hosts that each send to one at the same moment."""
    emulation.network(bandwidth="10Mbps", latency="50us")
    sink = emulation.hosts("sink", bandwidth=sink_bandwidth)[0]
    program = emulation.c(PROGRAMS / "burst.c")
    sink.start(emulation.python(swallow, count))
    for host in emulation.hosts(f"n[1-{count}]"):
        host.start(program, "sink", "7000", str(size), "10", name="sender")


def completions(emulation: Cluster) -> tuple[list[float], tuple[str, ...]]:
    """Run it: seconds after which each sender knows that what it has sent has arrived; the log's digest, and all outputs."""
    result = emulation.run(check=True)
    ended = [process.ended_s for process in emulation.processes if process.name == "sender"]
    outputs = [process.stdout + process.stderr for process in emulation.processes]
    return [moment - 10 for moment in ended if moment is not None], (result.digest, *outputs)


def expected(size: int, bytes_per_s: float) -> float:
    """A round trip to connect, the bytes, and a round trip for their latency and the end of the other direction."""
    return 2 * 4 * 50e-6 + size / (LV08_FACTOR * bytes_per_s)


def test_many_that_end_together_wait_for_each_other_on_a_narrow_link_only(emulation: Cluster) -> None:
    start_burst(emulation, 8, 250_000, "10Mbps")
    assert completions(emulation)[0] == pytest.approx([expected(8 * 250_000, 1.25e6)] * 8, rel=0.01)


def test_and_not_on_a_wide_one(emulation: Cluster) -> None:
    start_burst(emulation, 8, 250_000, "80Mbps")
    assert completions(emulation)[0] == pytest.approx([expected(250_000, 1.25e6)] * 8, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("sink_bandwidth", "slower"), [("10Mbps", 200), ("2Gbps", 1)], ids=["narrow", "wide"])
def test_two_hundred_that_end_together_do_so_on_any_computer(emulation: Cluster, sink_bandwidth: str, slower: int) -> None:
    """The delay is the closed form's, because of the link; and the same to the nanosecond and byte on a busy computer."""
    start_burst(emulation, 200, 500_000, sink_bandwidth)
    idle = completions(emulation)
    assert idle[0] == pytest.approx([expected(slower * 500_000, 1.25e6)] * 200, rel=0.01)
    with busy_computer():
        assert [completions(emulation) for _ in range(2)] == [idle] * 2


def test_all_connections_of_two_hosts_may_count_as_one(emulation: Cluster) -> None:
    """Three connections of one host and one of another: a half each instead of three quarters and a quarter."""
    emulation.network(bandwidth="1Gbps", latency="50us", fair_per="hosts")
    sink, many, one = emulation.hosts("sink"), emulation.hosts("many"), emulation.hosts("one")
    program = emulation.c(PROGRAMS / "burst.c")
    sink[0].start(emulation.python(swallow, 4))
    arguments = (program, "sink", "7000", "1000000", "10")
    three = [many[0].start(*arguments) for _ in range(3)]
    single = one[0].start(*arguments)
    emulation.run(check=True)
    rate = LV08_FACTOR * 125e6
    assert single.ended_s == pytest.approx(10 + 2 * 4 * 50e-6 + 1e6 / (rate / 2), abs=2e-4)
    assert [each.ended_s for each in three] == pytest.approx([10 + 2 * 4 * 50e-6 + 4e6 / rate] * 3, abs=2e-4)


needs_iperf = needs("iperf3")


def measured(output: str) -> tuple[float, float]:
    """Bits per second, as the sender and as the receiver of iperf3 saw it."""
    end = json.loads(output)["end"]
    return end["sum_sent"]["bits_per_second"], end["sum_received"]["bits_per_second"]


@needs_iperf
@pytest.mark.slow
@pytest.mark.parametrize(("model", "factor"), [("LV08", LV08_FACTOR), ("CM02", 1.0)])
@pytest.mark.parametrize("latency", ["50us", "2ms"])
def test_iperf3_reports_the_modelled_bandwidth(emulation: Cluster, model: str, factor: float, latency: str) -> None:
    emulation.network(bandwidth="1Gbps", latency=latency, model=model)
    near, far = emulation.hosts("a[1-2]")
    far.start(["iperf3", "-s", "-1"])
    client = near.start(["iperf3", "-c", "a2", "-t", "10", "-J"], at="1s")
    emulation.run(check=True)
    assert measured(client.stdout) == pytest.approx((factor * 1e9, factor * 1e9), rel=0.01)


@needs_iperf
@pytest.mark.slow
def test_two_iperf3_through_one_link_have_half_each(emulation: Cluster) -> None:
    emulation.network(bandwidth="1Gbps", latency="100us")
    server, *clients = emulation.hosts("a[1-3]")
    for port in ("5201", "5202"):
        server.start(["iperf3", "-s", "-1", "-p", port])
    pairs = zip(clients, ("5201", "5202"), strict=True)
    running = [client.start(["iperf3", "-c", "a1", "-p", port, "-t", "5", "-J"], at="1s") for client, port in pairs]
    emulation.run(check=True)
    for client in running:
        assert measured(client.stdout) == pytest.approx((LV08_FACTOR * 5e8,) * 2, rel=0.01)
