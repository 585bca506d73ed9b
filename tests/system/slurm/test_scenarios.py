"""Scenarios of toy programs: networks, restarts, and every kind of bad input, one clear line each."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest

from simunix.testing import Cluster
from tests.conftest import Simunix

TWO_HOSTS = "name: toy\nhosts:\n  - {name: 'a[1-2]'}\n"
TOY = """
name: toy
epoch: 2000-01-01T00:00:00Z
hosts:
  - {name: 'a[1-2]'}
network: {bandwidth: 1MBps, latency: 10ms}
processes:
  - {name: far, host: a2, command: 'sleep 1h; hostname; date +%s'}
  - {name: near, host: a1, start: 1s, command: [getent, ahostsv4, a2]}
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A small scenario's file."""
    (tmp_path / "toy.yaml").write_text(TOY)
    return tmp_path / "toy.yaml"


def test_from_the_command_line(simunix: Simunix, toy: Path, tmp_path: Path) -> None:
    done = simunix("run", toy, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    hosts = tmp_path / "out" / "hosts"
    assert (hosts / "a2" / "far.out").read_text() == "a2\n946688400\n"
    assert (hosts / "a1" / "near.out").read_text().startswith("10.0.0.2 ")
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert (record["ended"], record["cpu_policy"], record["failure"]) == ("done", "free", None)
    assert 3600 < record["virtual_s"] < 3601


def receive_all() -> None:
    with socket.create_server(("", 7000)) as listener:
        peer, address = listener.accept()
        total = 0
        while data := peer.recv(65536):
            total += len(data)
        peer.sendall(b"!")
        print(socket.gethostname(), address[0], total)


def send_all(size: int) -> None:
    start = time.monotonic()
    peer = socket.create_connection(("a2", 7000))
    print(time.monotonic() - start)
    peer.sendall(bytes(size))
    peer.shutdown(socket.SHUT_WR)
    peer.recv(1)
    print(time.monotonic() - start)


def test_two_hosts_and_a_modelled_link(emulation: Cluster) -> None:
    emulation.network(bandwidth="1MBps", latency="10ms")
    near, far = emulation.hosts("a[1-2]")
    server = far.start(receive_all)
    client = near.start(emulation.python(send_all, 1_000_000), at="1s")
    first, second = emulation.run(check=True), emulation.run(check=True)
    assert server.stdout == "a2 10.0.0.1 1000000\n"
    connected, finished = map(float, client.stdout.split())
    assert 0.040 <= connected < 0.041  # a round trip over two links of 10 ms
    assert 1.06 < finished < 1.12  # 1 MB at 1 MB/s, and 20 ms there and back
    assert first.digest == second.digest


SHAPES = {
    "torus: {dimensions: [4, 2]}": 2,
    "fat-tree: {down: [4, 4], up: [1, 2]}": 4,
    "dragonfly: {groups: 2, chassis: 2, routers: 1, hosts: 2}": 5,
    "cluster: {backbone: 1Gbps, backbone_latency: 10ms}": 3,
}


@pytest.mark.parametrize(("shape", "links"), SHAPES.items(), ids=[shape.split(":")[0] for shape in SHAPES])
def test_a_connection_takes_a_round_trip_over_the_links_of_its_route(
    simunix: Simunix, tmp_path: Path, shape: str, links: int
) -> None:
    connect = "import socket, time; t = time.time(); socket.create_connection(('a7', 7000)); print(time.time() - t)"
    listen = "import socket, time; s = socket.create_server(('', 7000)); time.sleep(9)"
    (tmp_path / "s.yaml").write_text(f"""
hosts: [{{name: 'a[0-7]'}}]
network: {{bandwidth: 1Gbps, latency: 10ms, {shape}}}
processes:
  - {{name: server, host: a7, command: [/usr/bin/python3, -c, "{listen}"]}}
  - {{name: client, host: a0, start: 1s, command: [/usr/bin/python3, -c, "{connect}"]}}
""")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    took_s = float((tmp_path / "out/hosts/a0/client.out").read_text())
    assert 2 * links * 0.010 <= took_s < 2 * links * 0.010 + 0.001


BAD = {
    "unknown key": (TWO_HOSTS + "hots: 1\n", "bad.yaml:4: hots: unknown key; did you mean 'hosts'?"),
    "wrong type": (TWO_HOSTS + "seed: many\n", "bad.yaml:4: seed: Input should be a valid integer"),
    "not yaml": ("a: [", "bad.yaml:1: not YAML"),
    "host twice": (TWO_HOSTS + "  - {name: a2}\n", "host a2 is named twice"),
    "address clash": ("hosts:\n  - {name: x, address: 10.0.0.1}\n  - {name: y, address: 10.0.0.1}\n", "same address 10.0.0.1"),
    "unknown host": (TWO_HOSTS + "processes: [{name: p, host: zz, command: 'true'}]\n", "'zz' is not among the hosts"),
    "missing program": (TWO_HOSTS + "processes: [{name: p, host: a1, command: [/no/daemon]}]\n", "/no/daemon: no such program"),
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


def test_override_and_its_error(simunix: Simunix, toy: Path) -> None:
    done = simunix("run", toy, "--set", "network.latency=slow")
    assert done.returncode == 2
    assert "--set network.latency=slow: network.latency: expected a duration" in done.stderr


def test_essential_program_that_fails_ends_the_run(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        TWO_HOSTS + "processes: [{name: p, host: a1, essential: true, command: 'sleep 60; echo wrong >&2; exit 1'}]\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "a1: p ended with exit code 1 at 60.0" in done.stderr
    assert (tmp_path / "out/hosts/a1/p.err").read_text() == "wrong\n"


def bind_twice() -> None:
    _listener = socket.create_server(("", 80))
    socket.create_server(("", 80))


def test_port_in_use_is_the_programs_to_report(emulation: Cluster) -> None:
    program = emulation.host("a1").start(bind_twice)
    result = emulation.run()
    assert program.exit_code == 1
    assert "Address already in use" in program.stderr
    assert len(result.events("address_in_use")) == 1


def test_restart_policy(simunix: Simunix, tmp_path: Path) -> None:
    script = f"echo run >> {tmp_path}/count; test $(wc -l < {tmp_path}/count) -ge 3 || kill -SEGV $$"
    (tmp_path / "s.yaml").write_text(
        TWO_HOSTS + f"processes: [{{name: p, host: a1, restart: on-failure, restart_delay: 1h, command: '{script}'}}]\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "count").read_text() == "run\n" * 3
    assert json.loads((tmp_path / "out/run.json").read_text())["virtual_s"] > 7200


def test_private_paths(emulation: Cluster) -> None:
    folders = ("/var/spool/toy/deep", "/run/toy")
    command = "hostname > /var/spool/toy/deep/f; hostname > /run/toy/g; sleep 9; cat /var/spool/toy/deep/f /run/toy/g"
    programs = [host.start(command) for host in emulation.hosts("a[1-2]", private=folders)]
    result = emulation.run(check=True)
    for program in programs:
        assert program.stdout == f"{program.host}\n" * 2
        assert (result.directory / f"hosts/{program.host}/files/run_toy/g").read_text() == f"{program.host}\n"
    assert not Path("/var/spool/toy").exists()


def test_run_directory_of_somebody_else_is_left_alone(simunix: Simunix, toy: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    done = simunix("run", toy, "--out", tmp_path / "precious")
    assert done.returncode == 2
    assert (tmp_path / "precious" / "file").exists()


def test_schema_is_json(simunix: Simunix) -> None:
    schema = json.loads(simunix("schema").stdout)
    assert schema["additionalProperties"] is False
    assert "hosts" in schema["required"]


STOPPED = """
name: stopped
hosts: [{name: 'a[1-2]'}]
stop: mine
processes:
  - {name: daemon, host: a1, command: [sleep, infinity], essential: true}
  - {name: mine, host: a1, command: [sleep, '5']}
  - {name: mine, host: a2, command: [sleep, '7']}
  - {name: late, host: a2, command: [sleep, '9'], start: 20s}
"""


def test_a_run_ends_with_the_processes_that_it_names(simunix: Simunix, tmp_path: Path) -> None:
    """Both of the name decide; a daemon that goes on, and what was to start later, do not."""
    (tmp_path / "s.yaml").write_text(STOPPED)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert (done.returncode, record["ended"], record["deterministic"]) == (0, "done", True), done.stderr
    assert 7 < record["virtual_s"] < 7.1
    assert record["epoch_s"] % 86400 == 0 and abs(record["epoch_s"] - time.time()) < 2 * 86400
