"""Hosts are switched, and meters read, by programs that run on other hosts; a host that has booted counts its uptime anew."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from simunix.launch.factory.factory import LIBRARY
from tests.conftest import Simunix

SCENARIO = """
name: room
hosts:
  - {name: a, cores: 4}
  - name: b
    cores: 4
    speed: [2Gf, 1Gf]
    wattage_per_state: ['100:200', '90:150']
    wattage_off: 10
    boot_time: 60s
    boot_wattage: 150
processes:
  - {name: asks, host: a, start: 1s, expect: 1, command: 'bash %s'}
  - {name: lives, host: b, command: 'sleep 0.5; cat /proc/uptime; sleep 100'}
"""
ASKS = """
room() { %s machines "$@"; }
room watts b
room off b; sleep 1; room watts
room on b; room on b; sleep 61; room watts
room pstate 1 -- b; sleep 1; room watts b
room pstate 0 -- b; room limit 99.5 -- b; sleep 1; room watts b
room limit 0 -- b; sleep 1; room watts b
room limit 5W -- b; room limit 5 -- a; room limit 5
room shutdown b; sleep 20; room watts
room off a9; room pstate 7 -- b; room blow b; room watts a; room off
"""


def test_a_host_is_switched_by_another_one(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "asks.sh").write_text(ASKS % (LIBRARY / "simunix-job"))
    (tmp_path / "s.yaml").write_text(SCENARIO % (tmp_path / "asks.sh"))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    watts = [float(line.split()[0]) for line in (out / "hosts/a/asks.out").read_text().splitlines()]
    assert watts == [100, 10, 100, 90, 90, 100, 10]
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    kinds = [each["event"] for each in events if each.get("host") == "b" and each["event"].startswith(("host_", "power_"))]
    assert kinds == ["host_off", "host_boot", "host_on", *["power_state"] * 4, "host_shutdown", "host_off"]
    before, after = (float(line.split()[0]) for line in (out / "hosts/b/lives.out").read_text().splitlines())
    assert (round(before, 1), round(after, 1)) == (60.5, 0.5)
    errors = (out / "hosts/a/asks.err").read_text()
    for expected in (
        "limit: expected watts such as 250 or 193.5, and hosts, got '5W b'",
        "limit: there is no host 'a' with wattage_per_state",
        "and hosts, got '5'",
        "host 'a9': no such host",
        "power state 7: host b has",
        "no request 'blow'",
        "there is no host 'a' with wattage_per_state",
        "name one or more hosts",
    ):
        assert expected in errors
    power = list(csv.DictReader((out / "power.csv").read_text().splitlines()))
    assert [float(row["watts"]) for row in power] == [100, 10, 150, 100, 90, 100, 90, 100, 10]
