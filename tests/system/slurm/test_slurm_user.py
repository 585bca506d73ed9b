"""slurmctld under a user of its own, as Debian's packages and most sites have it."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs

pytestmark = [
    pytest.mark.slurm,
    needs("ps"),
    pytest.mark.skipif(os.geteuid() != 0, reason="without root all users are the caller"),
]
SCENARIO = """
name: user
hosts: [{name: ctl, cores: 4}, {name: 'n[1-2]', cores: 4}]
slurm: {controller: ctl, nodes: 'n[1-2]', SETTINGS}
stop: time
until: 2min
processes:
  - name: user
    host: ctl
    start: 10s
    command: "srun -N2 hostname | sort; ps -o user= -C slurmctld; stat -c %U /var/spool/slurmctld /var/log/slurm;
              sbatch -o /dev/null --wrap 'sleep 5'; sleep 20; squeue -h; cut -d' ' -f1 /var/log/slurm/jobcomp.log"
"""
CONF = """
ClusterName=own
SlurmctldHost=ctl
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/pgid
SelectType=select/cons_tres
JobCompType=jobcomp/filetxt
JobCompLoc=/var/log/slurm/jobcomp.log
NodeName=n[1-2] CPUs=4 State=UNKNOWN
PartitionName=all Nodes=n[1-2] Default=YES State=UP
"""


@pytest.mark.parametrize("settings", ["parameters: {SlurmUser: slurm}", "extra: SlurmUser=slurm", "config: slurm.conf"])
def test_slurmctld_has_its_own_user(simunix: Simunix, tmp_path: Path, settings: str) -> None:
    try:
        pwd.getpwnam("slurm")
    except KeyError:
        pytest.skip("there is no user slurm")
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("SETTINGS", settings))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=100)
    assert done.returncode == 0, done.stderr
    output = (tmp_path / "out/hosts/ctl/user.out").read_text().split("\n")
    told = ["n1", "n2", "slurm", "slurm", "slurm", "Submitted batch job 2", "JobId=1", "JobId=2", ""]
    assert output == told, (tmp_path / "out/hosts/ctl/user.err").read_text()
