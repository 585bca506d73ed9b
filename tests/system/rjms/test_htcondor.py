"""Real HTCondor in a root file system of its own: a workload through condor_submit, its own commands, a DAG, the same twice.

The root is that of SIMUNIX_ROOTS (see tests/roots.py), and is made if need be: 490 MB, a few minutes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.roots import KeptRoot
from tests.system.rjms.workloads import JOBS, user_commands, write_workload
from tests.system.runs import run, run_twice

pytestmark = pytest.mark.slow
CONDOR = KeptRoot("condor", "trixie", ("condor", "python3"))
INDEPENDENT = [job for job in JOBS if job.before < 0]
SCENARIO = """
name: htcondor
seed: 1
hosts: [{{name: 'm,l', cores: 4, memory: 8GiB}}, {{name: 'n[1-4]', cores: 4, memory: 8GiB}}]
root: {root}
htcondor: {{controller: m, login: l, nodes: 'n[1-4]', configuration: {{NEGOTIATOR_INTERVAL: 20}}}}
workload: {{trace: small.swf, start: 30s{workload}}}
"""
COMMANDS = """
cd /var/tmp; sleep 50; condor_status; condor_q -allusers -totals
sub() {
    printf '%s\\n' executable=/bin/sh "arguments=\\"-c '$1'\\"" transfer_executable=false output=$2.out queue > $2.sub
}
sub 'hostname; id -un; exit 3' script; condor_submit -terse script.sub
sub 'date +first-%s; sleep 5' a; sub 'date +second-%s' b
printf '%s\\n' 'JOB A a.sub' 'JOB B b.sub' 'PARENT A CHILD B' > d.dag
condor_submit_dag d.dag
j=$(condor_submit -terse executable=/bin/sleep arguments=1000 transfer_executable=false -queue 1); sleep 60; condor_rm ${j%%.*}
while condor_q -af ClusterId | grep -q .; do sleep 5; done
condor_history -af Owner JobStatus ExitCode Cmd; cat script.out a.out b.out; tail -n 3 d.dag.dagman.out; condor_version
"""
KILL = """processes:
  - name: kill
    host: l
    start: 70s
    command: for p in /proc/[0-9]*; do case $(cat $p/comm) in condor_schedd) kill -9 ${p#/proc/};; esac; done
"""


@pytest.fixture(scope="module")
def root(simunix: Simunix) -> Path:
    return CONDOR.made(simunix)


def write(tmp_path: Path, root: Path, workload: str = "", rest: str = "") -> Path:
    return write_workload(tmp_path, INDEPENDENT, SCENARIO.format(root=root, workload=workload) + rest)


def test_a_workload_through_condor_submit_twice_the_same(fresh_simunix: Simunix, tmp_path: Path, root: Path) -> None:
    scenario = write(tmp_path, root)
    ran, _ = run_twice(fresh_simunix, scenario, tmp_path)
    assert (ran.record["rjms"], ran.record["deterministic"]) == ("htcondor 23.9.6", True)
    rows = ran.jobs
    assert {row["final_state"] for number, row in rows.items() if number != 4} == {"COMPLETED"}
    assert (rows[4]["final_state"], float(rows[4]["execution_time"])) == ("TIMEOUT", pytest.approx(160, abs=2))
    lasted = [float(rows[number]["execution_time"]) for number in (1, 2, 3, 5, 6)]
    assert lasted == pytest.approx([60, 60, 30, 20, 20], abs=2)  # files go and come, in whole seconds
    assert [len(rows[number]["allocated_hosts"].split(",")) for number in (1, 3, 5)] == [1, 3, 4]
    assert [int(rows[number]["allocated_cores"]) for number in (1, 2, 3, 4, 5)] == [1, 4, 12, 2, 16]
    assert "Caught signal" not in ran.file("l", "var_log_condor/SchedLog")


def test_its_users_commands_answer_and_a_dag_runs(simunix: Simunix, tmp_path: Path, root: Path) -> None:
    scenario = write(tmp_path, root, rest=user_commands(COMMANDS, "user: nobody, "))
    out = run(simunix, scenario, tmp_path / "out").output("l", "user")
    assert len(re.findall(r"^slot1@n\d +LINUX +X86_64 ", out, re.MULTILINE)) == 4
    assert "nobody 4 3 /bin/sh\n" in out and "nobody 3 undefined /bin/sleep\n" in out
    assert re.search(r"^n\d\nnobody\n", out, re.MULTILINE) and "(condor_DAGMAN) pid" in out and "EXITING WITH STATUS 0" in out
    moments = dict(re.findall(r"^(first|second)-(\d+)$", out, re.MULTILINE))
    assert int(moments["second"]) >= int(moments["first"]) + 5
    assert "CondorVersion: 23.9.6" in out


@pytest.mark.endurance
def test_equal_jobs_are_processes_of_a_cluster(simunix: Simunix, tmp_path: Path, root: Path) -> None:
    ran = run(simunix, write(tmp_path, root, ", arrays: bursts, users: trace"), tmp_path / "out")
    numbers = ran.job_numbers("l")
    assert numbers[6].endswith("_0") and numbers[7] == numbers[6].replace("_0", "_1")
    rows = ran.jobs
    assert [rows[number]["final_state"] for number in (6, 7)] == ["COMPLETED", "COMPLETED"]
    assert [float(rows[number]["execution_time"]) for number in (6, 7)] == pytest.approx([20, 20], abs=1)
    assert {row["user"] for row in rows.values()} == {"user1"}


def test_every_job_is_accounted_for_when_the_schedd_is_killed_and_a_node_is_lost(
    simunix: Simunix, tmp_path: Path, root: Path
) -> None:
    events = "events: [{at: 3min, host: n1, state: off, duration: 1min}]\nuntil: 3h\n"
    ran = run(simunix, write(tmp_path, root, rest=KILL + events), tmp_path / "out", timeout=400)
    assert ran.file("l", "var_log_condor/SchedLog").count("(CONDOR_SCHEDD) STARTING UP") == 2
    states = {number: row["final_state"] for number, row in ran.jobs.items()}
    assert states.pop(4) == "TIMEOUT" and set(states.values()) == {"COMPLETED"}  # 4 ran on the node that was lost
    rows = ran.jobs
    assert [float(rows[number]["execution_time"]) for number in (1, 2)] == pytest.approx([60, 60], abs=2)  # beyond the death


@pytest.mark.endurance
def test_ranks_of_a_job_start_on_its_node(simunix: Simunix, tmp_path: Path, root: Path) -> None:
    profile = ", max_jobs: 2, profile: {type: parallel_homogeneous, cpu: 4e9, com: 1e6}"
    ran = run(simunix, write(tmp_path, root, profile), tmp_path / "out")
    rows = ran.jobs
    assert [rows[number]["final_state"] for number in (1, 2)] == ["COMPLETED", "COMPLETED"]
    logs = {path.name: path.read_text() for path in (tmp_path / "out/shared/run_simunix_jobs").glob("*.log")}
    assert " ranks are there: 1\n" in logs["swf-1-1.log"] and " ranks are there: 4\n" in logs["swf-2-2.log"]
