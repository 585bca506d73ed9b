"""Hosts that go off, links that are cut, partitions: what programs notice, and at which virtual time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simunix.testing import Cluster, EmulatedProcess
from tests.conftest import Simunix
from tests.system.runs import run_twice

ECHO = """
import signal, socket, sys, threading, time
def leave(number, frame):
    print("SIGTERM", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
listener = socket.create_server(("", 7000))
print("up", flush=True)
def serve(peer):
    try:
        while data := peer.recv(1000):
            peer.sendall(data)
    except OSError as error:
        print(error.strerror, flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""
ASK = """
import socket, sys, time
begin = time.monotonic()
def say(*words):
    print(*words, round(time.monotonic() - begin, 1), flush=True)
try:
    peer = socket.create_connection(("far", 7000))
    say("connected")
    for option in sys.argv[2:]:
        name, _, value = option.partition("=")
        level = socket.SOL_SOCKET if name == "SO_KEEPALIVE" else socket.IPPROTO_TCP
        peer.setsockopt(level, getattr(socket, name), int(value))
    for pause in sys.argv[1].split(","):
        time.sleep(float(pause))
        begin = time.monotonic()
        if pause != "0":
            peer.sendall(b"x" * 100)
        data = peer.recv(1000)
        say("answer" if data else "end")
except OSError as error:
    say(type(error).__name__, error.errno)
"""


def pair(emulation: Cluster, *words: str, at: float = 0) -> tuple[EmulatedProcess, EmulatedProcess]:
    near, far = emulation.hosts("near,far")
    return (
        near.start(emulation.python(ASK, name="ask"), *words, at=at),
        far.start(emulation.python(ECHO, name="echo"), daemon=True),
    )


def test_data_sent_in_a_partition_arrives_after_it(emulation: Cluster) -> None:
    client, _ = pair(emulation, "10", at=1)
    emulation.partition("near", at=5)
    emulation.heal(at=20)
    emulation.run(check=True)
    # Sent at 11 s: again after 0.2, 0.6, 1.4, 3, 6.2, 12.6 s
    assert client.stdout == "connected 0.0\nanswer 12.6\n"


def test_cut_links_hold_data_up(emulation: Cluster) -> None:
    client, _ = pair(emulation, "10", at=1)
    emulation.host("far").disconnect(at=5)
    emulation.host("far").reconnect(at=12)
    emulation.run(check=True)
    assert client.stdout == "connected 0.0\nanswer 1.4\n"


def test_partition_without_end_is_given_up(emulation: Cluster) -> None:
    client, _ = pair(emulation, "10", at=1)
    emulation.partition("near", "far", at=5)
    result = emulation.run()
    assert client.stdout == "connected 0.0\nTimeoutError 110 924.7\n"
    assert [(event["host"], event["error"]) for event in result.events("connection_lost")] == [("near", "ETIMEDOUT")]


def test_user_timeout_is_kept(emulation: Cluster) -> None:
    client, _ = pair(emulation, "10", "TCP_USER_TIMEOUT=30000", at=1)
    emulation.partition("near", at=5)
    emulation.run()
    assert client.stdout == "connected 0.0\nTimeoutError 110 30.0\n"


def test_connect_to_a_dead_host(emulation: Cluster) -> None:
    client, _ = pair(emulation, "1", at=10)
    emulation.host("far").crash(at=5)
    emulation.run()
    assert client.stdout == "TimeoutError 110 127.0\n"


def test_connect_succeeds_when_the_host_is_back(emulation: Cluster) -> None:
    client, server = pair(emulation, "1", at=10)
    emulation.host("far").crash(at=5)
    emulation.host("far").boot(at=14)
    emulation.run(check=True)
    assert client.stdout == "connected 7.0\nanswer 0.0\n"  # SYNs after 1, 3 and 7 s
    assert server.stdout == "up\nup\n"


def test_power_cut_is_silent(emulation: Cluster) -> None:
    client, server = pair(emulation, "10", at=1)
    emulation.host("far").crash(at=5)
    emulation.run()
    assert client.stdout == "connected 0.0\nTimeoutError 110 924.7\n"
    assert (server.exit_code, server.ended_s) == (-9, 5)


def test_rebooted_host_resets_old_connections(emulation: Cluster) -> None:
    client, _ = pair(emulation, "10", at=1)
    emulation.host("far").crash(at=5)
    emulation.host("far").boot(at=6)
    emulation.run()
    assert client.stdout == "connected 0.0\nConnectionResetError 104 0.0\n"


def test_clean_shutdown_ends_connections(emulation: Cluster) -> None:
    client, server = pair(emulation, "1,0", at=1)
    emulation.host("far").shut_down(at=5)
    emulation.run()
    assert client.stdout == "connected 0.0\nanswer 0.0\nend 3.0\n"
    assert server.stdout == "up\nSIGTERM\n"


def test_shutdown_kills_those_that_stay(emulation: Cluster) -> None:
    stubborn = emulation.host("a").start("trap '' TERM; while :; do sleep 1; done", daemon=True)
    emulation.host("b").start("sleep 100")
    emulation.host("a").shut_down(at=5)
    emulation.run(check=True)
    assert (stubborn.exit_code, stubborn.ended_s) == (-9, 15)


def test_reboot_starts_what_was_running(emulation: Cluster) -> None:
    host = emulation.host("a")
    once = host.start("echo once; sleep 1", daemon=True)
    daemon = host.start("date +%s; exec sleep 1000", daemon=True)
    emulation.host("b").start("sleep 200")
    host.reboot(at=10)
    emulation.run(check=True)
    first, second = map(int, daemon.stdout.split())
    assert second - first == 10 + 1 + 60 - 10 + 10
    assert once.stdout == "once\n"


@pytest.mark.parametrize(
    ("options", "seconds"), [((), None), (("TCP_KEEPIDLE=20", "TCP_KEEPINTVL=5", "TCP_KEEPCNT=3"), 20 + 3 * 5)]
)
def test_keepalive_finds_out(emulation: Cluster, options: tuple[str, ...], seconds: float | None) -> None:
    client, _ = pair(emulation, "0", "SO_KEEPALIVE=1", *options, at=1)
    emulation.host("far").crash(at=5)
    emulation.run()
    assert client.stdout == f"connected 0.0\nTimeoutError 110 {seconds or 7200 + 9 * 75:.1f}\n"


def test_keepalive_meets_a_rebooted_host(emulation: Cluster) -> None:
    client, _ = pair(emulation, "0", "SO_KEEPALIVE=1", "TCP_KEEPIDLE=20", at=1)
    emulation.host("far").crash(at=5)
    emulation.host("far").boot(at=10)
    emulation.run()
    assert client.stdout == "connected 0.0\nConnectionResetError 104 20.0\n"


COUNT = """
import socket, sys, time
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if sys.argv[1] == "hear":
    own.bind(("", 9))
    own.settimeout(60)
    heard = 0
    try:
        while own.recv(100):
            heard += 1
    except TimeoutError:
        print(heard)
else:
    for number in range(1000):
        own.sendto(b"x", ("far", 9))
        time.sleep(0.01)
"""


def count_heard(emulation: Cluster) -> int:
    near, far = emulation.hosts("near,far")
    program = emulation.python(COUNT, name="count")
    hearer = far.start(program, "hear")
    near.start(program, "say", at=1)
    emulation.lose_datagrams(0.3, "near", at=0)
    first = emulation.run(check=True)
    heard = int(hearer.stdout)
    assert emulation.run(check=True).digest == first.digest
    return heard


def test_datagrams_are_lost_at_the_rate_given(emulation: Cluster) -> None:
    assert 650 < count_heard(emulation) < 750


SCENARIO = """
name: faults
hosts: [{name: 'n[1-2]'}]
processes: [{name: talk, host: n1, command: 'echo; sleep 100'}]
"""


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ("[{at: 1s, host: n3, state: off}]", "s.yaml:5: events[0]: host 'n3': no such host; known: n1, n2"),
        ("[{at: 1s, link: n1_UPP, state: down}]", "s.yaml:5: events[0]: link 'n1_UPP': no such link; did you mean 'n1_UP'?"),
        ("[{at: -1, host: n1, state: off}]", "s.yaml:5: events[0].at: expected a duration such as"),
        ("[{at: 1s, host: n1}]", "s.yaml:5: events[0]: expected what happens to the host: state"),
        ("[{at: 1s, host: n1, state: down, loss: 1%}]", "events[0]: loss: not a key of an event of host; known: state, grace"),
        ("[{at: 1s, state: off}]", "expected one of host, process, link, storage, partition, heal, between, got none"),
        ("[{at: 1s, link: n1, bandwidth: -1Mbps}]", "events[0].bandwidth: expected a rate such as '10Gbps'"),
        ("[{at: 1s, link: n1, loss: 120%}]", "events[0].loss: expected a part of all datagrams"),
        ("[{at: 1s, partition: 'n[1-2]'}]", "s.yaml:5: events[0]: the only side given names all hosts"),
        ("[{at: 1s, partition: [n1, n1]}]", "events[0]: host n1 is on both sides"),
        (
            "[{at: 1s, heal: true, duration: 1s}]",
            "duration: an event that mends, continues or hangs something cannot be taken back; leave duration out",
        ),
    ],
)
def test_bad_events_are_told_in_one_line(simunix: Simunix, tmp_path: Path, events: str, words: str) -> None:
    (tmp_path / "s.yaml").write_text(f"{SCENARIO}events: {events}\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "s.yaml:5: profiles[0].bandwidth_file: "),
        ("0 1e6\n1 x\n", "f.trace: line 2: expected a number, got 'x'"),
        ("0 1e6\n5 0\n", "f.trace: expected bandwidths above 0, got 0"),
        ("5 1\n1 2\n", "f.trace: line 2: dates must not go back, got 1 after 5"),
        ("0 1e6\nSTOCHASTIC LOOP\n", "f.trace: line 2: stochastic profiles are not deterministic"),
    ],
)
def test_bad_profiles_are_told_with_file_and_line(simunix: Simunix, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "f.trace").write_text(text)
    (tmp_path / "s.yaml").write_text(f"{SCENARIO}profiles: [{{link: n1, bandwidth_file: f.trace}}]\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


SINK = """
import socket, sys, time
if sys.argv[1] == "sink":
    peer, _ = socket.create_server(("", 7000)).accept()
    begin, heard = time.monotonic(), 0
    while data := peer.recv(65536):
        heard += len(data)
    print(round(time.monotonic() - begin, 2))
else:
    with socket.create_connection(("n2", 7000)) as peer:
        peer.sendall(bytes(10_000_000))
"""


def test_profile_of_a_link_in_simgrids_format(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "sink.py").write_text(SINK)
    (tmp_path / "f.trace").write_text("# 1 MB/s, then 0.5 MB/s\n0 1e6\n3.0 5e5\nLOOPAFTER 4.0\n")
    (tmp_path / "s.yaml").write_text(
        "name: profile\nnetwork: {model: CM02}\nhosts: [{name: 'n[1-2]'}]\n"
        "profiles: [{link: n1_UP, bandwidth_file: f.trace}]\nprocesses:\n"
        f"  - {{name: sink, host: n2, command: [python3, {tmp_path}/sink.py, sink]}}\n"
        f"  - {{name: source, host: n1, start: 1s, command: [python3, {tmp_path}/sink.py, source]}}\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    # From 1 s: 2 MB until 3 s, 2 MB until 7 s, 3 MB until 10 s, 2 MB until 14 s, 1 MB until 15 s
    assert float((tmp_path / "out/hosts/n2/sink.out").read_text()) == pytest.approx(14, abs=0.05)
    events = [json.loads(line) for line in (tmp_path / "out/events.jsonl").read_text().splitlines()]
    links = [(event["t"], event["bandwidth_bytes_per_s"]) for event in events if event["event"] == "link"]
    assert links[:4] == [(0, 1e6), (3 * 10**9, 5e5), (7 * 10**9, 1e6), (10 * 10**9, 5e5)]


PLATFORM = """<platform version="4.1"><zone id="z" routing="Full">
  <host id="h1" speed="1Gf"/> <host id="h2" speed="1Gf" speed_file="half.trace"/>
  <host id="h3" speed="1Gf" state_file="off.trace"/> <host id="h4" speed="1Gf" state_file="off.trace"/>
  <link id="l" bandwidth="8Mbps" latency="0" sharing_policy="SPLITDUPLEX" bandwidth_file="f.trace"/>
  <route src="h1" dst="h2"><link_ctn id="l" direction="UP"/></route>
  <route src="h1" dst="h3"><link_ctn id="l" direction="UP"/></route>
  <route src="h2" dst="h3"><link_ctn id="l" direction="UP"/></route>
</zone></platform>"""


def with_platform(folder: Path, bandwidths: str) -> Path:
    """A scenario of three hosts on a platform file of four, with profiles of a link, two hosts, and a speed."""
    for name, text in {"f": bandwidths, "off": "5 0\n8 1\n", "half": "0 0.5\n"}.items():
        (folder / f"{name}.trace").write_text(text)
    (folder / "m.xml").write_text(PLATFORM)
    (folder / "sink.py").write_text(SINK)
    (folder / "s.yaml").write_text(
        "name: profile\nnetwork: {model: CM02, platform: m.xml}\nhosts: [{name: 'n[1-3]'}]\nprocesses:\n"
        f"  - {{name: sink, host: n2, command: [python3, {folder}/sink.py, sink]}}\n"
        f"  - {{name: source, host: n1, start: 1s, command: [python3, {folder}/sink.py, source]}}\n"
        "  - {name: sleeps, host: n3, command: sleep 2}\n"
    )
    return folder / "s.yaml"


def test_profiles_of_a_platform_file_are_played(simunix: Simunix, tmp_path: Path) -> None:
    """As those that the scenario names itself, on the hosts that have taken the file's places; speeds are told of."""
    scenario = with_platform(tmp_path, "3.0 5e5\n7.0 1e6\nLOOPAFTER 3.0\n")
    done = simunix("run", scenario, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    # From 1 s: 2 MB until 3 s, 2 MB until 7 s, 6 MB until 13 s (it has begun anew at 10 s)
    assert float((tmp_path / "out/hosts/n2/sink.out").read_text()) == pytest.approx(12, abs=0.05)
    events = [json.loads(line) for line in (tmp_path / "out/events.jsonl").read_text().splitlines()]
    links = [(event["t"], event["link"], event["bandwidth_bytes_per_s"]) for event in events if event["event"] == "link"]
    assert links[:3] == [(3 * 10**9, "l_UP", 5e5), (3 * 10**9, "l_DOWN", 5e5), (7 * 10**9, "l_UP", 1e6)]
    power = [(event["t"], event["event"], event["host"]) for event in events if event["event"] in ("host_off", "host_on")]
    assert power == [(5 * 10**9, "host_off", "n3"), (8 * 10**9, "host_on", "n3")]
    warnings = json.loads((tmp_path / "out/run.json").read_text())["warnings"]
    assert [text for text in warnings if "speeds are not played" in text]
    assert done.stderr.count("speeds are not played") == 1


def test_a_bandwidth_of_nothing_in_a_platform_file_is_refused(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", with_platform(tmp_path, "1 0\n"), "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "s.yaml:2: network.platform: bandwidth of l_UP, profile " in done.stderr
    assert "f.trace: expected values above 0, got 0; a state_file takes the link down" in done.stderr


@pytest.mark.slow
def test_the_same_faults_give_the_same_log(fresh_simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "ask.py").write_text(ASK.replace('"far"', '"n2"'))
    (tmp_path / "s.yaml").write_text(
        "name: again\nhosts: [{name: 'n[1-3]'}]\nstop: time\nuntil: 30min\nprocesses:\n"
        f"  - {{name: echo, host: n2, command: [python3, {tmp_path}/echo.py]}}\n"
        f"  - {{name: ask, host: 'n[1,3]', start: 1s, command: [python3, {tmp_path}/ask.py, '1,2,40,100']}}\n"
        "events:\n  - {at: 20s, host: n2, state: reboot}\n  - {at: 2min, partition: [n1, 'n[2-3]'], duration: 1min}\n"
        "  - {at: 3min, host: n2, state: off, duration: 30s}\n  - {at: 4min, link: n3, latency: 5ms, state: up}\n"
    )
    ran, _ = run_twice(fresh_simunix, tmp_path / "s.yaml", tmp_path, timeout=60)
    kinds = [json.loads(line)["event"] for line in ran.events]
    assert {"host_shutdown", "host_off", "host_on", "partition", "heal", "link"} <= set(kinds)
