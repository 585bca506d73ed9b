"""Users under a power cap: whatever they ask Slurm for, the cap holds, and their jobs run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import run

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

CAP_W = 560.0
"""All four nodes at the slower speed: 140 W each."""
SCENARIO = """
name: users
epoch: 2000-01-01T00:00:00Z
hosts:
  - {{name: ctl, cores: 4}}
  - {{name: 'n[1-4]', cores: 2, speed: [2Gf, 1Gf], wattage_per_state: ["100:200", "100:140"]}}
slurm:
  controller: ctl
  nodes: 'n[1-4]'
  parameters: {{TaskPlugin: task/affinity, CpuFreqGovernors: "OnDemand,Performance,UserSpace", MinJobAge: 20000}}
  extra: PartitionName=short Nodes=n[1-4] MaxTime=5 State=UP
  power_cap: {{policy: dvfs, caps: [{{watts: {cap}, start: 1min, end: 2h}}]}}
stop: [user]
processes:
  - {{name: user, host: ctl, start: 3min, command: {command}}}
"""
COMPUTE = "python3 -c 'import ctypes; ctypes.CDLL(None).prctl(0x53494d01, ctypes.byref(ctypes.c_uint64(10**11)))'"
USER = """
job() { name=$1; shift; sbatch -Q -t 5 -o /dev/null -J "$name" "$@"; }
cd /tmp
job held -H -N4 --wrap "COMPUTE"
job watts -N4 -L watts:1 --wrap "srun -n8 COMPUTE"
job tasks -n4 --ntasks-per-node=1 --wrap "srun COMPUTE"
job array --array=1-4 -N1 --wrap "srun COMPUTE"
job frequency -N4 --wrap "srun -n8 --cpu-freq=high COMPUTE"
job parts -N1 : -N3 --wrap "srun COMPUTE"
job short -p short -N1 --wrap "srun COMPUTE"
job modified -N4 --wrap "srun -n8 COMPUTE"
number=$(squeue -h -n modified -o %i)
scontrol update JobId=$number Licenses=
scontrol update JobId=$number Licenses=watts:4
scontrol update JobId=$number NumNodes=1
scontrol update JobId=$number TimeLimit=6
srun -t 5 -N2 --cpu-freq=high hostname
sleep 30
while squeue -h | grep -qv held; do sleep 10; done
scancel -n held
scontrol -o show jobs | grep -o 'JobName=[a-z]*\\|JobState=[A-Z]*\\|TimeLimit=[0-9:]*' | paste - - - | sort
"""


def test_no_user_breaks_a_cap(simunix: Simunix, tmp_path: Path) -> None:
    command = [*["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "bash", "-c"], USER.replace("COMPUTE", COMPUTE)]
    (tmp_path / "s.yaml").write_text(SCENARIO.format(cap=CAP_W, command=json.dumps(command)))
    done = run(simunix, tmp_path / "s.yaml", tmp_path / "out")
    watts = [float(row["watts"]) for row in csv.DictReader((done.out / "power.csv").read_text().splitlines())]
    assert max(watts) == CAP_W
    told = done.everything("ctl", "user")
    assert told.count("Access/permission denied") == 3, told
    lines = [line.split() for line in done.output("ctl", "user").splitlines() if line.startswith("JobName=")]
    states = {(name.removeprefix("JobName="), state.removeprefix("JobState=")) for name, state, _ in lines}
    names = ("watts", "tasks", "array", "frequency", "parts", "short", "modified", "hostname")
    assert states == {("held", "CANCELLED"), *((name, "COMPLETED") for name in names)}, told
    limits = {name.removeprefix("JobName="): limit.removeprefix("TimeLimit=") for name, _, limit in lines}
    assert limits["short"] == "00:05:00"  # no more than its partition allows
