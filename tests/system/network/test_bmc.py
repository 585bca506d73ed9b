"""BMCs: real ipmitool switches hosts and reads their power over the emulated network, from OpenIPMI's simulator."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import run

NEEDED = [name for name in ("ipmitool", "ipmi_sim") if shutil.which(name) is None]
SCENARIO = """
name: bmc
hosts:
  - {name: admin}
  - name: n[1-2]
    cores: 4
    speed: [2Gf, 1Gf]
    wattage_per_state: ["100:100:200", "80:80:110"]
    wattage_off: 10
    boot_time: 30s
    boot_wattage: 150
  - {name: 'bmc[1-2]'}
bmcs: [{name: 'bmc[1-2]', hosts: 'n[1-2]', password: secret}]
processes:
  - {name: work, host: 'n[1-2]', command: sleep 100}
  - {name: admin, host: admin, start: 5s, command: [/bin/bash, FOLDER/admin.sh]}
"""
ADMIN = """
say() { ipmitool -C 3 -I lanplus -H $1 -U admin -P secret "${@:2}"; }
say bmc1 power status
say bmc1 sensor reading Power
say bmc1 power off
sleep 3
say bmc1 power status
say bmc1 sensor reading Power
say bmc1 power on
sleep 3
say bmc1 power status
say bmc1 sensor reading Power
sleep 40
say bmc1 power cycle
say bmc2 power reset
sleep 50
say bmc2 power soft
sleep 20
say bmc2 chassis status | head -1
ipmitool -C 3 -R 1 -N 1 -I lanplus -H bmc2 -U admin -P wrong power status 2>&1
exit 0
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(NEEDED), reason=f"not installed: {', '.join(NEEDED)} (SIMUNIX_PROGRAMS=1 .ci/setup installs them)")
def test_ipmitool_switches_hosts_and_reads_their_power(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "admin.sh").write_text(ADMIN)
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("FOLDER", str(tmp_path)))
    done = run(simunix, tmp_path / "s.yaml", tmp_path / "out")
    assert [" ".join(line.split()) for line in done.output("admin", "admin").splitlines()] == [
        "Chassis Power is on",
        "Power | 100.330",  # a byte of 0.79 W: 127 times
        "Chassis Power Control: Down/Off",
        "Chassis Power is off",
        "Power | 10.270",
        "Chassis Power Control: Up/On",
        "Chassis Power is on",
        "Power | 150.100",
        "Chassis Power Control: Cycle",
        "Chassis Power Control: Reset",
        "Chassis Power Control: Soft",
        "System Power : off",
        "Error: Unable to establish IPMI v2 / RMCP+ session",
    ]
    events = [event for event in map(json.loads, done.events) if event["event"].startswith("host_")]
    switches = {host: [event["event"][5:] for event in events if event["host"] == host] for host in ("n1", "n2")}
    assert switches == {"n1": ["off", "boot", "on", "off", "boot", "on"], "n2": ["off", "boot", "on", "shutdown", "off"]}
