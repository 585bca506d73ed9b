"""Behaviour that Slurm's own test suite checks: process groups, terminals, users, resources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs

pytestmark = [pytest.mark.slurm, pytest.mark.slow]


def run_on(simunix: Simunix, tmp_path: Path, command: str, *, slurm: str = "", until: str = "10min") -> str:
    """What a user's shell commands on the controller print; the section's further keys may be given."""
    (tmp_path / "user.sh").write_text(command)
    (tmp_path / "s.yaml").write_text(f"""
name: small
hosts:
  - {{name: ctl, cores: 4, memory: 8GiB}}
  - {{name: 'n[1-2]', cores: 4, memory: 16GiB}}
slurm: {{controller: ctl, nodes: 'n[1-2]'{slurm}}}
stop: time
until: {until}
processes: [{{name: user, host: ctl, start: 10s, command: [/bin/bash, {tmp_path}/user.sh]}}]
""")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=100)
    assert done.returncode == 0, done.stderr
    host = tmp_path / "out/hosts/ctl"
    return (host / "user.out").read_text() + (host / "user.err").read_text()


def test_signals_reach_the_process_group_of_a_job(simunix: Simunix, tmp_path: Path) -> None:
    """Test suite: test6.x and 15.x. The batch shell traps the signals, its children die of them."""
    job = tmp_path / "job.sh"
    job.write_text(
        "#!/bin/bash\ntrap 'echo USR1' USR1\ntrap 'echo TERM; exit 3' TERM\n"
        "sleep 1001 & sleep 1002 & (sleep 1003; echo too late) &\n"
        "while :; do sleep 1004 & wait; done\n"
    )
    output = run_on(
        simunix,
        tmp_path,
        f"sbatch -o {tmp_path}/job.out -w n1 --wrap 'exec bash {job}'; sleep 5; scancel --signal=USR1 --full 1; sleep 2\n"
        f"scancel --full 1; sleep 60; cat {tmp_path}/job.out; squeue -h; scontrol -o show job 1 | grep -o 'JobState=[A-Z]*'",
    )
    assert re.search(r"^USR1\n(.*\n)*TERM$", output, re.MULTILINE), output
    assert "too late" not in output
    assert "JobState=CANCELLED" in output


@needs("expect")
def test_expect_reads_twenty_kilobytes_from_srun(simunix: Simunix, tmp_path: Path) -> None:
    """Test suite: globals. srun writes to a terminal of expect's, faster than expect reads."""
    script = tmp_path / "lines.exp"
    script.write_text(
        "set timeout 60\nset lines 0\n"
        "spawn srun -N1 bash -c {for ((i = 0; i < 1000; i++)); do echo line 0123456789 0123456789; done; read word; exit 7}\n"
        "expect {\n  -re {line 0123456789 0123456789} { incr lines; if {$lines < 1000} exp_continue }\n"
        "  timeout { puts TIMEOUT }\n}\n"
        'send "word\\r"\nexpect { eof {} timeout { puts TIMEOUT } }\n'
        'puts "lines=$lines code=[lindex [wait] 3]"\n'
    )
    output = run_on(simunix, tmp_path, f"expect {script}")
    assert "lines=1000 code=7" in output
    assert "TIMEOUT" not in output


@needs("sudo")
def test_jobs_of_users_by_sudo_and_su(simunix: Simunix, tmp_path: Path) -> None:
    """The suite submits as other users by sudo."""
    output = run_on(
        simunix,
        tmp_path,
        "sudo -u nobody id -un; sudo -u nobody srun -N2 id -un\n"
        "su -s /bin/sh -c 'sbatch -o /dev/null --wrap \"sleep 30\"' nobody\n"
        "sleep 3; squeue -h -o '%u %t'",
    )
    assert output == "nobody\nnobody\nnobody\nSubmitted batch job 2\nnobody R\n", output


def test_a_generic_resource_is_given_to_as_many_jobs_as_there_are(simunix: Simunix, tmp_path: Path) -> None:
    """Test suite: test39.x. Two of a counted resource on each of two nodes: of five jobs four run."""
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=gres\nSlurmctldHost=ctl\nSlurmUser=root\nAuthType=auth/munge\nMpiDefault=none\n"
        "StateSaveLocation=/var/spool/slurm/state\nSlurmdSpoolDir=/var/spool/slurm/slurmd\n"
        "SlurmctldLogFile=/var/log/slurm/ctld.log\nSlurmdLogFile=/var/log/slurm/slurmd.log\n"
        "ProctrackType=proctrack/pgid\nSlurmctldPidFile=/run/ctld.pid\nSlurmdPidFile=/run/slurmd.pid\n"
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nGresTypes=tester\n"
        "NodeName=n[1-2] CPUs=4 Gres=tester:2\nPartitionName=p Nodes=n[1-2] Default=YES\n"
    )
    output = run_on(
        simunix,
        tmp_path,
        "for i in 1 2 3 4 5; do sbatch -o /dev/null -n1 --gres=tester:1 --wrap 'sleep 60'; done\n"
        "sleep 5; squeue -h -o %t | sort | uniq -c\n"
        "scontrol -o -d show node n1 | grep -o 'GresUsed=[^ ]*'; sleep 100; squeue -h | wc -l",
        slurm=f", config: {tmp_path}/slurm.conf",
    )
    assert re.search(r"^ +1 PD\n +4 R\nGresUsed=tester:2\n", output, re.MULTILINE), output
