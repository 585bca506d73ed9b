"""Joules of whole runs: what programs compute and send, power states that change meanwhile, hosts that go off."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import run

COMPUTE = """
import ctypes, time
flops = ctypes.c_uint64(4_000_000_000)
begin = time.monotonic()
assert ctypes.CDLL(None).prctl(0x53494d01, ctypes.byref(flops)) == 0
print(round(time.monotonic() - begin, 6))
"""
RECEIVE = """
import socket
peer = socket.create_server(("", 7000)).accept()[0]
while peer.recv(1 << 20):
    pass
"""
SEND = """
import socket
socket.create_connection(("b", 7000)).sendall(bytes(12_500_000))
"""
SCENARIO = """
name: energy
until: 100
stop: time
hosts:
  - {{name: a, cores: 2, speed: [1Gf, 500Mf], wattage_per_state: ["100:120:200", "90:100:150"], wattage_off: 10}}
  - {{name: b, cores: 2, wattage_per_state: "50:60", wattage_off: 5}}
network:
  links: [{{name: wire, bandwidth: 1Gbps, between: [a, b], policy: shared, wattage_range: "10:35", wattage_off: 2}}]
  model: CM02
  settings: {{network/crosstraffic: false}}
enclosures: [{{name: chassis, hosts: 'a,b', watts: 30}}]
processes:
  - {{name: compute, host: a, start: 10, command: [{python}, {folder}/compute.py]}}
  - {{name: receive, host: b, command: [{python}, {folder}/receive.py]}}
  - {{name: send, host: a, start: 1, command: [{python}, {folder}/send.py]}}
events:
  - {{at: 12, host: a, pstate: 1, duration: 1}}
  - {{at: 20, link: wire, state: down, duration: 10}}
  - {{at: 40, host: b, state: off}}
  - {{at: 50, host: a, state: off, duration: 10}}
"""


def joules(folder: Path) -> dict[str, float]:
    """By the name of host, enclosure or link."""
    with (folder / "energy.csv").open(newline="") as file:
        return {row["name"]: float(row["joules"]) for row in csv.DictReader(file)}


def test_computing_sending_and_switching(simunix: Simunix, tmp_path: Path) -> None:
    for name, text in (("compute", COMPUTE), ("receive", RECEIVE), ("send", SEND)):
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "s.yaml").write_text(SCENARIO.format(python=sys.executable, folder=tmp_path))
    done = run(simunix, tmp_path / "s.yaml", tmp_path / "out")
    # 2 s at full speed, 1 s at half, 1.5 s at full; 50 s to 60 s both hosts are off, and so the chassis has no power.
    assert float(done.output("a", "compute")) == pytest.approx(4.5, abs=1e-3)
    found = joules(done.out)
    assert found["a"] == pytest.approx(85.5 * 100 + 3.5 * 160 + 125, abs=0.5)
    assert found["b"] == pytest.approx(40 * 50 + 50 * 5, abs=1e-6)
    assert found["chassis"] == pytest.approx(90 * 30, abs=1e-6)
    assert found["wire"] == pytest.approx(90 * 10 + 10 * 2 + 0.1 * 25, rel=1e-3)
