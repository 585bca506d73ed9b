"""Slurm's own power saving: nodes really go off, and boot for as long as they say."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.system.runs import Run, run, run_twice

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

CLUSTER = """
name: saving
hosts:
  - {name: ctl, cores: 4}
  - {name: 'n[1-2]', cores: 4, wattage_per_state: '100:120:200', wattage_off: 10, boot_time: 1min, boot_wattage: 150}
slurm: {controller: ctl, nodes: 'n[1-2]', power_saving: {%s}}
stop: time
until: %s
processes:
  - {name: user, host: ctl, start: 10s, command: [bash, %s]}
"""
WATCH = 'while :; do echo "$SECONDS $(sinfo -h -N -o %N=%T | xargs) $(squeue -h -o %i:%t:%N | xargs)"; sleep 10; done\n'


def ran(simunix: Simunix, folder: Path, saving: str, until: str, script: str) -> Run:
    (folder / "user.sh").write_text(f"{script}\n{WATCH}")
    (folder / "s.yaml").write_text(CLUSTER % (saving, until, folder / "user.sh"))
    return run(simunix, folder / "s.yaml", folder / "out")


def switches(done: Run, host: str) -> list[tuple[str, float]]:
    """What a host did, and when."""
    events = [json.loads(line) for line in done.events]
    kinds = ("host_shutdown", "host_off", "host_boot", "host_on")
    return [(each["event"], each["t"] / 1e9) for each in events if each["event"] in kinds and each["host"] == host]


def states(done: Run, node: str) -> list[str]:
    found: list[str] = []
    for line in done.output("ctl", "user").splitlines():
        for state in re.findall(rf"\b{node}=(\S+)", line):
            if found[-1:] != [state]:
                found.append(state)
    return found


def test_idle_nodes_go_off_and_boot_for_a_job(simunix: Simunix, tmp_path: Path) -> None:
    script = "sleep 400; sbatch -o /dev/null -N1 -w n1 --wrap 'sleep 100'"
    done = ran(simunix, tmp_path, "suspend_time: 60s, suspend_timeout: 30s, resume_timeout: 5min", "15min", script)
    one = switches(done, "n1")
    assert [kind for kind, _ in one][:4] == ["host_shutdown", "host_off", "host_boot", "host_on"]
    assert one[3][1] - one[2][1] == pytest.approx(60, abs=1e-6)
    assert 60 <= one[0][1] <= 60 + 60
    log = done.file("ctl", "var_log_slurm/jobcomp.log")
    assert "JobState=COMPLETED" in log
    starts = [json.loads(line) for line in done.events if '"process_start"' in line and '"n1"' in line]
    assert [each["argv"][0].split("/")[-1] for each in starts].count("slurmd") >= 2  # it died with its host
    assert [kind for kind, _ in switches(done, "n2")] == ["host_shutdown", "host_off"]


def test_a_node_that_boots_too_slowly_is_down_for_slurm(simunix: Simunix, tmp_path: Path) -> None:
    script = "sleep 200; sbatch -o /dev/null -N1 -w n1 --wrap 'sleep 100'"
    done = ran(simunix, tmp_path, "suspend_time: 60s, suspend_timeout: 30s, resume_timeout: 30s", "12min", script)
    assert any("down" in state for state in states(done, "n1")), states(done, "n1")
    assert "not resumed by ResumeTimeout(30)" in done.file("ctl", "var_log_slurm/slurmctld.log")


def test_the_scenario_that_ships(simunix: Simunix, tmp_path: Path) -> None:
    first, _ = run_twice(simunix, ROOT / "scenarios/power-saving.yaml", tmp_path)
    assert {row["final_state"] for row in first.rows} == {"COMPLETED"}
    power = [float(row["watts"]) for row in csv.DictReader((first.out / "power.csv").read_text().splitlines())]
    assert min(power) < 8 * 117 < max(power)
