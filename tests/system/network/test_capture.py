"""Captures of emulated traffic, judged by tcpdump and tshark; what links carry, judged by arithmetic."""

from __future__ import annotations

import csv
import struct
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs

TRAFFIC = """
import socket, sys, threading, time
def serve(port, family):
    listener = socket.create_server(("", port), family=family)
    while True:
        peer, _ = listener.accept()
        got = 0
        while data := peer.recv(65536):
            got += len(data)
            if port == 7000:
                peer.sendall(data[::-1])
        peer.close()
if sys.argv[1] == "server":
    heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    heard.bind(("", 40007))
    for port in (7000, 9000):
        threading.Thread(target=serve, args=(port, socket.AF_INET), daemon=True).start()
    while True:
        data, peer = heard.recvfrom(65536)
        heard.sendto(data, peer)
with socket.create_connection(("n2", 7000)) as peer:
    for count in range(20):
        peer.sendall(b"x" * (count * 300 + 1))
        left = count * 300 + 1
        while left:
            left -= len(peer.recv(65536))
with socket.create_connection(("n2", 9000)) as peer:
    peer.sendall(bytes(1_000_000))
try:
    socket.create_connection(("n2", 1))
except ConnectionRefusedError:
    pass
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.connect(("n2", 40007))
for size in (0, 1, 1472, 1473, 8000):
    own.send(bytes(size))
    assert len(own.recv(65536)) == size
own.connect(("n2", 40008))
own.send(b"nobody")
try:
    own.recv(10)
except ConnectionRefusedError:
    print("refused")
"""


def run(simunix: Simunix, folder: Path, *options: str, out: str = "out", more: str = "", bandwidth: str = "1Gbps") -> Path:
    (folder / "traffic.py").write_text(TRAFFIC)
    (folder / "s.yaml").write_text(
        "name: traffic\nhosts: [{name: 'n[1-2]'}]\nstop: time\nuntil: 30s\n"
        f"network: {{bandwidth: {bandwidth}, latency: 50us}}\n"
        f"processes:\n  - {{name: server, host: n2, command: [python3, {folder}/traffic.py, server]}}\n"
        f"  - {{name: client, host: n1, start: 1s, command: [python3, {folder}/traffic.py, client]}}\n{more}"
    )
    done = simunix("run", folder / "s.yaml", "--out", folder / out, *options)
    assert done.returncode == 0, done.stderr
    assert (folder / out / "hosts/n1/client.err").read_text() == ""
    return folder / out


def tshark(file: Path, *words: str) -> list[str]:
    checks = [f"-o{protocol}.check_checksum:TRUE" for protocol in ("ip", "tcp", "udp")]
    done = subprocess.run(
        ["tshark", "-n", *checks, "-r", file, *words], capture_output=True, text=True, check=True, timeout=100
    )
    return done.stdout.splitlines()


needs_tshark = needs("tshark")
needs_tcpdump = needs("tcpdump")


@pytest.fixture(scope="module")
def traffic(simunix: Simunix, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(simunix, tmp_path_factory.mktemp("traffic"), "--pcap", "--link-usage=100ms")


def test_messages_without_an_rjms_have_no_name(simunix: Simunix, tmp_path: Path) -> None:
    out = run(simunix, tmp_path, "--log-messages")
    with (out / "host_messages.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    ends = {
        (row["from"], row["from_program"], row["to"], row["to_port"], row["message"]) for row in rows if row["from"] == "n1"
    }
    assert {(end[0], end[2], end[3], end[4]) for end in ends} == {("n1", "n2", "7000", ""), ("n1", "n2", "9000", "")}
    assert all(end[1].startswith("python3") for end in ends)
    sizes = {port: sum(int(row["bytes"]) for row in rows if row["to_port"] == port) for port in ("7000", "9000")}
    assert sizes == {"7000": sum(count * 300 + 1 for count in range(20)), "9000": 1_000_000}
    assert all(float(row["sent"]) + 50e-6 <= float(row["arrived"]) for row in rows)


@pytest.mark.slow
@needs_tshark
@pytest.mark.parametrize("host", ["n1", pytest.param("n2", marks=pytest.mark.slow)])
def test_tshark_has_nothing_to_complain_of(traffic: Path, host: str) -> None:
    file = traffic / f"hosts/{host}/eth0.pcap"
    bad = "_ws.malformed or tcp.checksum.status == 0 or udp.checksum.status == 0 or ip.checksum.status == 0"
    assert tshark(file, "-Y", bad) == []
    analysis = ("lost_segment", "ack_lost_segment", "out_of_order", "retransmission", "duplicate_ack", "zero_window")
    assert tshark(file, "-Y", " or ".join(f"tcp.analysis.{name}" for name in analysis)) == []
    lines = tshark(file, "-Y", "tcp.port != 1", "-T", "fields", "-e", "tcp.stream", "-e", "tcp.completeness")
    assert dict(line.split("\t") for line in lines) == {"0": "31", "1": "31"}  # in the end: SYN, SYN-ACK, ACK, data, FIN
    assert len(tshark(file, "-Y", "icmp.type == 3 and icmp.code == 3")) == 1
    assert len(tshark(file, "-Y", "tcp.port == 1 and tcp.flags.reset == 1")) == 1
    sizes = tshark(file, "-Y", "udp.dstport == 40007 and not icmp", "-T", "fields", "-e", "udp.length")
    assert [int(size) - 8 for size in sizes] == [0, 1, 1472, 1473, 8000]


@needs_tshark
def test_streams_are_what_was_sent(traffic: Path) -> None:
    for host in ("n1", "n2"):
        lines = tshark(traffic / f"hosts/{host}/eth0.pcap", "-q", "-z", "follow,tcp,raw,1")
        assert sum(len(line.strip()) for line in lines if set(line.strip()) <= set("0123456789abcdef")) == 2_000_000


@needs_tcpdump
def test_tcpdump_reads_it(traffic: Path) -> None:
    done = subprocess.run(
        ["tcpdump", "-nn", "-v", "-r", traffic / "hosts/n1/eth0.pcap"], capture_output=True, text=True, check=True, timeout=100
    )
    assert not {"bad", "truncated", "incorrect", "invalid"} & set(done.stdout.replace("(", " ").split())
    assert "seq 1:1461" in done.stdout
    assert "00:00:01.0" in done.stdout  # virtual time


def packets(file: Path) -> list[int]:
    """Nanoseconds of each packet."""
    content = file.read_bytes()
    assert struct.unpack_from("<IHH", content) == (0xA1B23C4D, 2, 4)
    position, found = 24, []
    while position < len(content):
        seconds, nanoseconds, size, _ = struct.unpack_from("<IIII", content, position)
        found.append(seconds * 10**9 + nanoseconds)
        position += 16 + size
    return found


def test_packets_are_in_order_and_pass_when_they_should(traffic: Path) -> None:
    near, far = (packets(traffic / f"hosts/{host}/eth0.pcap") for host in ("n1", "n2"))
    assert near == sorted(near)
    assert far == sorted(far)
    assert len(near) == len(far)
    assert abs((far[0] - near[0]) - 100_512) < 2  # two links of 50 µs, and 64 bytes at 1 Gbit/s


@pytest.mark.slow
def test_captures_change_nothing_and_repeat(fresh_simunix: Simunix, traffic: Path) -> None:
    again = run(fresh_simunix, traffic.parent, "--pcap=n2", out="again")  # the folder is among the programs' words
    without = run(fresh_simunix, traffic.parent, out="without")
    assert (again / "hosts/n2/eth0.pcap").read_bytes() == (traffic / "hosts/n2/eth0.pcap").read_bytes()
    assert not (again / "hosts/n1/eth0.pcap").exists()
    assert not list(without.glob("hosts/*/eth0*"))
    logs = [(out / "events.jsonl").read_bytes() for out in (traffic, again, without)]
    assert logs[0] == logs[1] == logs[2]


@needs_tshark
def test_retransmissions_are_seen_by_their_sender(simunix: Simunix, tmp_path: Path) -> None:
    events = "events: [{at: 1.020s, partition: n1, duration: 5s}]\n"
    out = run(simunix, tmp_path, "--pcap", more=events, bandwidth="1Mbps")
    near, far = (out / f"hosts/{host}/eth0.pcap" for host in ("n1", "n2"))
    again = [tshark(file, "-Y", "tcp.analysis.retransmission") for file in (near, far)]
    assert sum(map(len, again)) >= 3
    assert tshark(near, "-Y", "_ws.malformed") == []


def test_links_carry_what_was_sent(traffic: Path) -> None:
    with (traffic / "links.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["link"] for row in rows} == {"n1_UP", "n1_DOWN", "n2_UP", "n2_DOWN"}
    sent = {link: sum(int(row["bytes"]) for row in rows if row["link"] == link) for link in ("n1_UP", "n2_DOWN")}
    assert sent["n1_UP"] == sent["n2_DOWN"] > 1_000_000 + 20 * 19 * 150
    assert all(0 <= float(row["utilisation"]) <= 1 for row in rows)


@pytest.mark.slow
def test_links_are_drawn(simunix: Simunix, traffic: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = simunix("net", "plot", traffic, "-o", tmp_path / "x.png")
    assert (done.returncode, done.stdout) == (0, f"{tmp_path}/x.png\n")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert simunix("net", "plot", traffic / "links.csv", "--links", "n1_UP", "-o", tmp_path / "x.svg").returncode == 0
    assert "n1_UP" in (tmp_path / "x.svg").read_text()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("nowhere",), "nowhere: No such file or directory; give the directory of a run with --link-usage"),
        (("bad.csv",), "bad.csv:2: expected 5 fields, time,link,bytes,rate,utilisation, got 2"),
        (("good.csv", "--links", "x"), "--links: 'x' carried nothing in good.csv; those that did: n1_UP"),
        (("good.csv", "-o", "x.doc"), "x.doc: Format 'doc' is not supported"),
    ],
)
def test_what_cannot_be_drawn(simunix: Simunix, tmp_path: Path, words: tuple[str, ...], expected: str) -> None:
    pytest.importorskip("matplotlib")
    head = "time,link,bytes,rate,utilisation\n"
    (tmp_path / "bad.csv").write_text(f"{head}1,n1_UP\n")
    (tmp_path / "good.csv").write_text(f"{head}1,n1_UP,100,10,0.5\n")
    done = simunix("net", "plot", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--pcap=n3",), "pcap: host 'n3': no such host; known: n1, n2"),
        (("--link-usage=0",), "--link-usage: expected an interval above 0"),
        (("--link-usage=often",), "--link-usage: expected a duration such as"),
    ],
)
def test_bad_options(simunix: Simunix, tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    (tmp_path / "s.yaml").write_text("hosts: [{name: 'n[1-2]'}]\nprocesses: [{name: a, host: n1, command: 'true'}]\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (tmp_path / "out").exists()
