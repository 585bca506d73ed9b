"""Slurm's own accounting of energy, on counters that the meters fill; and frequencies that srun asks for."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.needs import with_database
from tests.system.runs import Run, run

pytestmark = [pytest.mark.slurm, pytest.mark.slow, with_database]
SCENARIO = """
name: energy-accounting
hosts:
  - {name: ctl, cores: 4}
  - name: n[1-2]
    cores: 4
    sockets: 2
    speed: [2Gf, 1.5Gf, 1Gf]
    wattage_per_state: ["100:100:200", "90:90:150", "80:80:110"]
slurm:
  controller: ctl
  nodes: 'n[1-2]'
  accounting_storage_type: slurmdbd
  parameters:
    AcctGatherEnergyType: acct_gather_energy/PLUGIN
    AcctGatherNodeFreq: 10
    JobAcctGatherType: jobacct_gather/linux
    JobAcctGatherFrequency: "task=10,energy=10"
    TaskPlugin: task/affinity
    CpuFreqGovernors: OnDemand,PowerSave,Performance,UserSpace
    AccountingStorageTRES: energy
workload: {trace: FOLDER/t.swf, profile: compute, resources: nodes}
stop: [user]
processes: [{name: user, host: ctl, start: 20s, command: [/bin/bash, FOLDER/user.sh]}]
"""
SWF = "1 0 -1 120 1 -1 -1 1 1000 -1 1 1 1 -1 1 -1 -1 -1\n2 0 -1 77 1 -1 -1 1 1000 -1 1 1 1 -1 1 -1 -1 -1\n"
COMPUTE = """
import ctypes, time
flops, begin = ctypes.c_uint64(100_000_000_000), time.monotonic()
assert ctypes.CDLL(None).prctl(0x53494d01, ctypes.byref(flops)) == 0
print(round(time.monotonic() - begin), flush=True)
"""


def ran(simunix: Simunix, folder: Path, plugin: str, script: str, trace: str = SWF) -> Run:
    (folder / "compute.py").write_text(COMPUTE)
    (folder / "t.swf").write_text(trace)
    (folder / "user.sh").write_text(script.replace("COMPUTE", f"{sys.executable} {folder}/compute.py"))
    (folder / "s.yaml").write_text(SCENARIO.replace("FOLDER", str(folder)).replace("PLUGIN", plugin))
    return run(simunix, folder / "s.yaml", folder / "out")


@pytest.mark.parametrize("plugin", ["pm_counters", "rapl"])
def test_sacct_scontrol_and_sstat_agree_with_the_meters(simunix: Simunix, tmp_path: Path, plugin: str) -> None:
    script = """
    sleep 60
    scontrol show node n1 | grep -o CurrentWatts=[0-9]*
    sstat -a -n -P -j 1 -o ConsumedEnergyRaw | head -1
    sleep 200
    scontrol show node n1 | grep -o CurrentWatts=[0-9]*
    sacct -n -P -o JobID,ConsumedEnergyRaw | grep batch
    """
    done = ran(simunix, tmp_path, plugin, script)
    lines = done.output("ctl", "user").splitlines()
    with (done.out / "consumed_energy.csv").open(newline="") as file:
        power = max(float(row["epower"]) for row in csv.DictReader(file) if row["epower"] != "NA")
    assert power == pytest.approx(250, abs=0.1), "one core of each node is loaded, at a time"
    assert lines[0] == "CurrentWatts=125" and lines[2] == "CurrentWatts=100"
    assert 0 < int(lines[1]) <= 125 * 70
    told = {int(job.removesuffix(".batch")): int(joules) for job, joules in (line.split("|") for line in lines[3:])}
    metered = {job: float(row["consumed_energy"]) for job, row in done.jobs.items()}
    assert told.keys() == metered.keys() == {1, 2}
    for job, joules in told.items():  # RAPL's plugin counts from 1 J on, and whole joules of a float
        assert joules == pytest.approx(metered[job], abs=2)
        assert joules == pytest.approx(125 * (120, 77)[job - 1], rel=1e-3)


def test_a_frequency_that_srun_asks_for_holds_for_its_step(simunix: Simunix, tmp_path: Path) -> None:
    script = """
    for frequency in low high 1500000 PowerSave 1000000-1500000:Performance medium; do
        srun -w n1 --cpu-freq=$frequency COMPUTE
    done
    srun -w n1 COMPUTE
    srun -w n1 cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
    sacct -n -P -o ConsumedEnergyRaw | sort -un
    """
    lines = ran(simunix, tmp_path, "pm_counters", script, SWF.replace("120", "1").replace("77", "1")).output("ctl", "user")
    # The factors of the speeds: a core of two, of 1.5 and of one Gflop/s.
    assert lines.split()[:8] == ["100", "50", "67", "100", "67", "67", "50", "performance"]
