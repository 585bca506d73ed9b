"""Scenarios of toy programs: networks, restarts, and every kind of bad input, one clear line each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Simunix

TWO_HOSTS = "name: toy\nhosts:\n  - {name: 'a[1-2]'}\n"
CLIENT = """
import socket, time
start = time.monotonic()
peer = socket.create_connection(("a2", 7000))
print(f"connected {time.monotonic() - start:.6f}")
peer.sendall(b"x" * 1_000_000)
peer.shutdown(socket.SHUT_WR)
assert peer.recv(1) == b"!"
print(f"done {time.monotonic() - start:.6f}")
"""
SERVER = """
import socket
listener = socket.create_server(("0.0.0.0", 7000))
peer, address = listener.accept()
total = 0
while data := peer.recv(65536):
    total += len(data)
peer.sendall(b"!")
print(socket.gethostname(), address[0], total)
"""


def write_toy(tmp_path: Path) -> Path:
    (tmp_path / "client.py").write_text(CLIENT)
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "toy.yaml").write_text(
        TWO_HOSTS
        + "network: {bandwidth: 1MBps, latency: 10ms}\n"
        + "processes:\n"
        + f"  - {{name: server, host: a2, command: [/usr/bin/python3, {tmp_path}/server.py]}}\n"
        + f"  - {{name: client, host: a1, start: 1s, command: [/usr/bin/python3, {tmp_path}/client.py]}}\n"
    )
    return tmp_path / "toy.yaml"


def test_two_hosts_and_a_modelled_link(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", write_toy(tmp_path), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    hosts = tmp_path / "out" / "hosts"
    assert (hosts / "a2" / "server.out").read_text() == "a2 10.0.0.1 1000000\n"
    connected, finished = (float(line.split()[1]) for line in (hosts / "a1" / "client.out").read_text().splitlines())
    assert 0.040 <= connected < 0.041  # a round trip over two links of 10 ms
    assert 1.06 < finished < 1.12  # 1 MB at 1 MB/s, and 20 ms there and back
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert (record["ended"], record["cpu_policy"], record["failure"]) == ("done", "free", None)
    assert record["virtual_s"] > 2


def test_repeated_runs_are_the_same(simunix: Simunix, tmp_path: Path) -> None:
    digests = set()
    for name in ("x", "y"):
        simunix("run", write_toy(tmp_path), "--out", tmp_path / name)
        digests.add(json.loads((tmp_path / name / "run.json").read_text())["events_sha256"])
    assert len(digests) == 1


BAD = {
    "unknown key": (TWO_HOSTS + "hots: 1\n", "bad.yaml:4: hots: unknown key; did you mean 'hosts'?"),
    "wrong type": (TWO_HOSTS + "seed: many\n", "bad.yaml:4: seed: Input should be a valid integer"),
    "not yaml": ("a: [", "bad.yaml:1: not YAML"),
    "host twice": (TWO_HOSTS + "  - {name: a2}\n", "host a2 is named twice"),
    "address clash": ("hosts:\n  - {name: x, address: 10.0.0.1}\n  - {name: y, address: 10.0.0.1}\n", "same address 10.0.0.1"),
    "unknown host": (TWO_HOSTS + "processes: [{name: p, host: zz, command: 'true'}]\n", "'zz' is not among the hosts"),
    "missing program": (TWO_HOSTS + "processes: [{name: p, host: a1, command: [/no/daemon]}]\n", "/no/daemon: no such program"),
    "static program": (TWO_HOSTS + "processes: [{name: p, host: a1, command: [/sbin/ldconfig]}]\n", "statically linked"),
    "workload alone": (TWO_HOSTS + "workload: {trace: t.swf}\n", "there is nothing to submit to"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_scenario_is_one_line(simunix: Simunix, tmp_path: Path, name: str) -> None:
    text, words = BAD[name]
    (tmp_path / "bad.yaml").write_text(text)
    done = simunix("run", tmp_path / "bad.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert not (tmp_path / "out").exists()


def test_missing_scenario(simunix: Simunix) -> None:
    done = simunix("run", "/nowhere/x.yaml")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "No such file" in done.stderr


def test_override_and_its_error(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", write_toy(tmp_path), "--set", "network.latency=slow")
    assert done.returncode == 2
    assert "--set network.latency=slow: network.latency: expected a duration" in done.stderr


def test_port_in_use_is_the_programs_to_report(simunix: Simunix, tmp_path: Path) -> None:
    script = 'import socket; a = socket.create_server(("", 80)); b = socket.create_server(("", 80))'
    (tmp_path / "s.yaml").write_text(
        TWO_HOSTS + f"processes: [{{name: p, host: a1, essential: true, command: [/usr/bin/python3, -c, '{script}']}}]\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "a1: p ended with exit code 1" in done.stderr
    assert "Address already in use" in (tmp_path / "out/hosts/a1/p.err").read_text()
    assert '"event":"address_in_use"' in (tmp_path / "out/events.jsonl").read_text()


def test_restart_policy(simunix: Simunix, tmp_path: Path) -> None:
    script = f"echo run >> {tmp_path}/count; test $(wc -l < {tmp_path}/count) -ge 3 || kill -SEGV $$"
    (tmp_path / "s.yaml").write_text(
        TWO_HOSTS + f"processes: [{{name: p, host: a1, restart: on-failure, restart_delay: 1h, command: '{script}'}}]\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "count").read_text() == "run\n" * 3
    assert json.loads((tmp_path / "out/run.json").read_text())["virtual_s"] > 7200


def test_private_paths(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        TWO_HOSTS
        + "processes:\n"
        + "  - {name: p, host: 'a[1-2]', private: [/var/spool/toy/deep, /run/toy], "
        + "command: 'hostname > /var/spool/toy/deep/f; hostname > /run/toy/g; sleep 9; cat /var/spool/toy/deep/f /run/toy/g'}\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    for host in ("a1", "a2"):
        assert (tmp_path / f"out/hosts/{host}/p.out").read_text() == f"{host}\n{host}\n"
        assert (tmp_path / f"out/hosts/{host}/files/run_toy/g").read_text() == f"{host}\n"
    assert not Path("/var/spool/toy").exists()


def test_run_directory_of_somebody_else_is_left_alone(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    done = simunix("run", write_toy(tmp_path), "--out", tmp_path / "precious")
    assert done.returncode == 2
    assert (tmp_path / "precious" / "file").exists()


def test_schema_is_json(simunix: Simunix) -> None:
    schema = json.loads(simunix("schema").stdout)
    assert schema["additionalProperties"] is False
    assert "hosts" in schema["required"]
