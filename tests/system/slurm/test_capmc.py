"""Slurm's own plugin power/cray_aries: it gives nodes caps through capmc, and they obey."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import run_twice

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
SCENARIO = """
name: capmc
seed: 1
epoch: 2000-01-01T00:00:00Z
hosts:
  - {name: ctl, cores: 4}
  - name: nid[00001-00006]
    cores: 2
    speed: [2.7Gf, 2.0Gf, 1.35Gf]
    wattage_per_state: ["117:358", "117:269", "117:193"]
slurm:
  controller: ctl
  nodes: nid[00001-00006]
  capmc: cap_watts=1500,balance_interval=10
  parameters: {DebugFlags: Power}
workload: {trace: w.swf, start: 100s, profile: compute}
stop: time
until: 16min
processes:
  - {name: early, host: ctl, start: 60s, command: /etc/slurm/capmc get_power_cap}
  - {name: energy, host: ctl, start: 60s, command: /etc/slurm/capmc get_node_energy_counter --nids 2-3}
  - {name: nodes, host: ctl, start: 65s, command: /etc/slurm/capmc node_status}
  - {name: wrong, host: ctl, start: 66s, command: /etc/slurm/capmc get_node_energy_counter --nids a, expect: 1}
  - {name: late, host: ctl, start: 600s, command: [scontrol, show, node, nid00001]}
events: [{at: 62, host: nid00006, state: off}]
"""
CAP_W = 1500
"""Four busy nodes and an idle one would draw 1,549 W."""


def test_nodes_stay_below_the_cap_of_the_plugin(simunix: Simunix, tmp_path: Path) -> None:
    rows = ["; MaxProcs: 12"] + [f"{number} {number} -1 400 4 -1 -1 4 1200 -1 1 1 1 1 1 1 -1 -1" for number in range(1, 9)]
    (tmp_path / "w.swf").write_text("\n".join(rows) + "\n")
    (tmp_path / "s.yaml").write_text(SCENARIO)
    done, _ = run_twice(simunix, tmp_path / "s.yaml", tmp_path)
    log = done.file("ctl", "var_log_slurm/slurmctld.log")
    assert "capmc json --resource=/capmc/set_power_cap" in log and "TOTALS" in log, log[-3000:]
    power = csv.DictReader((done.out / "power.csv").read_text().splitlines())
    while_jobs_run = [float(row["watts"]) for row in power if float(row["time"]) > 100]
    assert 0.75 * CAP_W < max(while_jobs_run) <= CAP_W
    early = json.loads(done.output("ctl", "early"))
    assert early["e"] == 0 and sum(node["controls"][0]["val"] for node in early["nids"]) <= CAP_W
    assert all(node["controls"][0]["val"] >= 193 for node in early["nids"])
    energy = json.loads(done.output("ctl", "energy"))
    assert [(node["nid"], node["energy_ctr"]) for node in energy["nodes"]] == [(2, 117 * 60), (3, 117 * 60)]
    assert energy["nodes"][0]["time"].startswith("2000-01-01 00:01:00.")
    assert json.loads(done.output("ctl", "nodes")) == {"e": 0, "err_msg": "", "ready": [1, 2, 3, 4, 5], "off": [6]}
    assert json.loads(done.output("ctl", "wrong"))["e"] == -1
    assert "CapWatts=" in done.output("ctl", "late") and "CapWatts=n/a" not in done.output("ctl", "late")
    ran = [float(row["execution_time"]) for row in done.rows if row["finish_time"]]
    assert ran and max(ran) > 1.2 * 400  # nodes that may draw less compute slower
