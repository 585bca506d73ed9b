"""Debian's own Slurm, unmodified, on emulated hosts."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simunix.results.machines import parse_intervals, read_machines
from tests.conftest import ROOT, Simunix
from tests.needs import needs

pytestmark = pytest.mark.slurm

CLUSTER = """
name: small
hosts:
  - {name: ctl, cores: 4, memory: 8GiB}
  - {name: 'n[1-4]', cores: 16, sockets: 2, memory: 64GiB}
slurm: {controller: ctl, nodes: 'n[1-4]'}
stop: time
until: UNTIL
"""


def run_on_cluster(simunix: Simunix, tmp_path: Path, command: str, until: str = "1h") -> tuple[str, Path]:
    """Run a shell command on the controller at 10 s; its output, and the run directory."""
    (tmp_path / "user.sh").write_text(command)
    scenario = CLUSTER.replace("UNTIL", until)
    scenario += f"processes: [{{name: user, host: ctl, start: 10s, command: [/bin/bash, {tmp_path}/user.sh]}}]\n"
    (tmp_path / "s.yaml").write_text(scenario)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=100)
    assert done.returncode == 0, done.stderr
    host = tmp_path / "out/hosts/ctl"
    return (host / "user.out").read_text() + (host / "user.err").read_text(), tmp_path / "out"


def test_clients_work(simunix: Simunix, tmp_path: Path) -> None:
    output, _ = run_on_cluster(
        simunix,
        tmp_path,
        "scontrol ping; sinfo -h -o '%D %t'; srun -N4 hostname | sort; sbatch -o /dev/null -N2 --wrap 'sleep 1000'; sleep 5\n"
        "squeue -h -o '%i %t %D'; scancel 2; sleep 60; squeue -h; slurmd -C | head -1; nproc",
    )
    assert "Slurmctld(primary) at ctl is UP" in output
    assert "4 idle" in output
    assert "n1\nn2\nn3\nn4\n" in output
    assert "2 R 2\n" in output
    assert output.count("2 R 2") == 1
    assert "NodeName=ctl CPUs=4" in output


@needs("pgrep")
def test_without_munge(simunix: Simunix, tmp_path: Path) -> None:
    parameters = "parameters: {AuthType: auth/none, CredType: cred/none}"
    scenario = CLUSTER.replace("UNTIL", "20min").replace("nodes: 'n[1-4]'}", f"nodes: 'n[1-4]', {parameters}}}")
    user = "srun -N4 hostname | sort; sbatch -o /dev/null -N4 --wrap 'sleep 20'; sleep 60; squeue -h; pgrep -c munged || true"
    processes = f"processes: [{{name: user, host: ctl, start: 10s, command: [/bin/bash, -c, {json.dumps(user)}]}}]"
    (tmp_path / "s.yaml").write_text(f"{scenario}{processes}\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=100)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/hosts/ctl/user.out").read_text() == "n1\nn2\nn3\nn4\nSubmitted batch job 2\n0\n"


@pytest.mark.slow
def test_two_hours_take_two_hours(simunix: Simunix, tmp_path: Path) -> None:
    _, out = run_on_cluster(simunix, tmp_path, "sbatch -o /dev/null --export=NONE --wrap 'sleep 7200'", "4h")
    line = (out / "hosts/ctl/files/var_log_slurm/jobcomp.log").read_text()
    times = re.search(r"StartTime=\S+T(\d+):(\d+):(\d+) EndTime=\S+T(\d+):(\d+):(\d+)", line)
    assert times is not None
    h1, m1, s1, h2, m2, s2 = map(int, times.groups())
    assert (h2 - h1) * 3600 + (m2 - m1) * 60 + s2 - s1 == 7200
    assert json.loads((out / "run.json").read_text())["wall_s"] < 60


def test_accounting_agrees_with_scontrol(simunix: Simunix, tmp_path: Path) -> None:
    output, out = run_on_cluster(
        simunix,
        tmp_path,
        'for i in 1 2 3 4 5 6; do sbatch -o /dev/null -n $((i * 8)) --wrap "sleep $((i * 10))"; done\n'
        "sleep 200; scontrol -o show jobs",
    )
    shown = dict(re.findall(r"JobId=(\d+) .*?(StartTime=\S+ EndTime=\S+)", output))
    log = (out / "hosts/ctl/files/var_log_slurm/jobcomp.log").read_text()
    recorded = dict(re.findall(r"JobId=(\d+) .*?(StartTime=\S+ EndTime=\S+)", log))
    assert len(shown) == 6
    assert shown == recorded


def test_a_user_configuration_is_taken_as_it_is(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=mine\nSlurmctldHost=boss\nSlurmUser=root\nAuthType=auth/munge\n"
        "StateSaveLocation=/var/spool/mine/state\nSlurmdSpoolDir=/var/spool/mine/slurmd\n"
        "SlurmctldLogFile=/var/log/mine/ctld.log\nSlurmdLogFile=/var/log/mine/slurmd.log\nProctrackType=proctrack/pgid\n"
        "SlurmctldPidFile=/run/ctld.pid\nSlurmdPidFile=/run/slurmd.pid\nMpiDefault=none\n"
        "NodeName=w[1-2] CPUs=2\nPartitionName=p Nodes=w[1-2] Default=YES\n"
    )
    (tmp_path / "s.yaml").write_text(
        "name: mine\nhosts: [{name: boss, cores: 2}, {name: 'w[1-2]', cores: 2}]\nstop: time\nuntil: 100s\n"
        "slurm: {controller: boss, nodes: 'w[1-2]', config: slurm.conf}\n"
        "processes: [{name: user, host: boss, start: 20s, command: 'srun -N2 hostname | sort; sleep 9; sinfo -h -o %t'}]\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=60)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/hosts/boss/user.out").read_text() == "w1\nw2\nidle\n"


def test_daemon_that_dies_at_start(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(CLUSTER.replace("UNTIL", "1h").replace("slurm: {", "slurm: {extra: 'Nonsense=1', "))
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert re.search(r"simunix: \S+: slurm(ctld|d) ended with exit code 1 at [12]\.\d+ s; its output is in", done.stderr)
    assert (tmp_path / "out/run.json").exists()


WORKLOAD = """
; UnixStartTime: 0
1 0 -1 100 4 -1 -1 4 200 -1 1 1 1 -1 1 -1 -1 -1
2 0 -1 50 64 -1 -1 64 60 -1 1 1 1 -1 1 -1 -1 -1
3 0 -1 0 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1
4 5 -1 10 65 -1 -1 65 60 -1 1 1 1 -1 1 -1 -1 -1
5 5 -1 -1 2 -1 -1 -1 30 -1 1 1 1 -1 1 -1 -1 -1
6 9 -1 -1 2 -1 -1 -1 -1 -1 1 1 1 -1 1 -1 -1 -1
7 9.5 -1 300 8 -1 -1 8 60 -1 1 1 1 -1 1 -1 -1 -1
"""


def test_every_job_of_a_workload_is_accounted_for(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "t.swf").write_text(WORKLOAD)
    scenario = CLUSTER.replace("stop: time\nuntil: UNTIL\n", "") + "workload: {trace: t.swf}\n"
    (tmp_path / "s.yaml").write_text(scenario)
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=100)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out/jobs.csv").open() as file:
        rows = {int(row["job_id"]): row for row in csv.DictReader(file)}
    states = {number: row["final_state"] for number, row in rows.items()}
    assert states == {
        1: "COMPLETED", 2: "COMPLETED", 3: "COMPLETED", 4: "REJECTED", 5: "COMPLETED", 6: "SKIPPED", 7: "TIMEOUT",
    }  # fmt: skip
    assert float(rows[1]["execution_time"]) == 100
    assert float(rows[2]["starting_time"]) >= float(rows[1]["finish_time"])
    assert "More processors requested than permitted" in rows[4]["metadata"]
    line = 1 + WORKLOAD.split("\n").index("4 5 -1 10 65 -1 -1 65 60 -1 1 1 1 -1 1 -1 -1 -1")
    assert f"REFUSED: 1 job refused: job 4 ({tmp_path}/t.swf:{line}): " in done.stdout
    assert 120 <= float(rows[7]["execution_time"]) < 300
    machines = read_machines(tmp_path / "out/machines.csv")
    for number, row in rows.items():
        intervals = parse_intervals(row["allocated_resources"])
        assert sum(high - low + 1 for low, high in intervals) == int(row["allocated_cores"]), number
    assert rows[2]["allocated_resources"] == f"0-{machines.total - 1}"
    for command in (["report", "-o", tmp_path / "r.html"], ["trace"], ["workload", "convert"]):
        extra = [tmp_path / "r.swf"] if command[0] == "workload" else []
        done = simunix(*command, tmp_path / "out", *extra, timeout=100)
        assert done.returncode == 0, done.stderr


def test_garbage_in_a_trace_is_named(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "t.swf").write_text(WORKLOAD.replace("7 9.5 -1 300", "7 9.5 -1 many"))
    (tmp_path / "s.yaml").write_text(CLUSTER.replace("UNTIL", "1h") + "workload: {trace: t.swf}\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "t.swf:9: runtime_s: expected a number, got 'many'" in done.stderr


@pytest.mark.endurance  # .ci/bare runs it once as root and once as a user; quicker scenarios run under load
def test_the_demo_three_times_also_under_load(fresh_simunix: Simunix, tmp_path: Path) -> None:
    results = []
    for name in ("first", "second", "loaded"):
        burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (name == "loaded"))]
        try:
            out = tmp_path / name
            done = fresh_simunix("run", ROOT / "scenarios/nasa-ipsc.yaml", "--out", out, timeout=900)
            assert done.returncode == 0, done.stderr
        finally:
            for burner in burners:
                burner.kill()
                burner.wait()
        record = json.loads((out / "run.json").read_text())
        results.append((record["events_sha256"], (out / "jobs.csv").read_bytes(), record["jobs"]))
    assert results[0] == results[1] == results[2]
    assert results[0][2] == {"COMPLETED": 238}
