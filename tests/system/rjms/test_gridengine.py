"""Real Grid Engine in a root file system of its own: a workload through qsub, its own commands, the same twice.

The root is that of SIMUNIX_ROOTS (see tests/roots.py), and is made if need be: downloads 90 MB.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.roots import KeptRoot
from tests.system.rjms.workloads import JOBS, SwfJob, user_commands, write_workload
from tests.system.runs import run, run_twice

pytestmark = pytest.mark.slow
GRIDENGINE = KeptRoot("gridengine", "bookworm", ("gridengine-master", "gridengine-exec", "gridengine-client", "python3"))
SCENARIO = """
name: gridengine
seed: 1
hosts: [{{name: 'm,l', cores: 4, memory: 8GiB}}, {{name: 'n[1-4]', cores: 4, memory: 8GiB}}]
root: {root}
gridengine: {{controller: m, login: l, nodes: 'n[1-4]', scheduler: {{flush_submit_sec: 1, flush_finish_sec: 1}}}}
workload: {{trace: small.swf, start: 30s{workload}}}
"""
COMMANDS = """
sleep 50; qhost; qstat -u '*'
qsub -terse -N script <<END
#!/bin/sh
hostname; id -un; exit 3
END
j=$(qsub -terse -b y sleep 1000); sleep 60; qdel $j; sleep 30
qacct -j script | grep -E '^(exit_status|owner)'; qacct -j $j | grep ^failed; qconf -sql || true
"""


@pytest.fixture(scope="module")
def root(simunix: Simunix) -> Path:
    return GRIDENGINE.made(simunix)


def write(tmp_path: Path, root: Path, workload: str = "", rest: str = "") -> Path:
    return write_workload(tmp_path, JOBS, SCENARIO.format(root=root, workload=workload) + rest)


def test_a_workload_through_qsub_twice_the_same(fresh_simunix: Simunix, tmp_path: Path, root: Path) -> None:
    scenario = write(tmp_path, root)
    ran, _ = run_twice(fresh_simunix, scenario, tmp_path)
    assert (ran.record["rjms"], ran.record["deterministic"]) == ("gridengine 8.1.9", True)
    rows = ran.jobs
    assert {row["final_state"] for number, row in rows.items() if number != 4} == {"COMPLETED"}
    assert (rows[4]["final_state"], float(rows[4]["execution_time"])) == ("TIMEOUT", pytest.approx(160, abs=2))
    assert [float(rows[number]["execution_time"]) for number in (1, 2, 3, 5, 6)] == [60, 60, 30, 20, 20]
    assert [len(rows[number]["allocated_hosts"].split(",")) for number in (1, 3, 5)] == [1, 3, 4]
    assert [int(rows[number]["allocated_cores"]) for number in (1, 2, 3, 4, 5)] == [1, 4, 10, 2, 16]


def test_jobs_that_end_just_before_the_run_does_are_in_the_accounting(simunix: Simunix, tmp_path: Path, root: Path) -> None:
    jobs = [SwfJob(number, 0, 35, 1, 100) for number in (1, 2, 3)]  # they end at 66 s, and the queue is empty at 68 s
    ran = run(simunix, write_workload(tmp_path, jobs, SCENARIO.format(root=root, workload="")), tmp_path / "out")
    assert {row["final_state"] for row in ran.jobs.values()} == {"COMPLETED"}


def test_its_users_commands_answer(simunix: Simunix, tmp_path: Path, root: Path) -> None:
    scenario = write(tmp_path, root, rest=user_commands(COMMANDS))
    out = run(simunix, scenario, tmp_path / "out").output("l", "user")
    assert len(re.findall(r"^n\d +lx-amd64 +4 ", out, re.MULTILINE)) == 4
    assert "exit_status  3" in out and "failed       100 : assumedly after job" in out and "all.q" in out


def test_arrays_and_dependencies_are_those_of_grid_engine(simunix: Simunix, tmp_path: Path, root: Path) -> None:
    ran = run(simunix, write(tmp_path, root, ", arrays: bursts, dependencies: rjms"), tmp_path / "out")
    numbers = ran.job_numbers("l")
    assert (numbers[6], numbers[7]) == ("6_1", "6_2")
    rows = ran.jobs
    assert [rows[number]["final_state"] for number in (6, 7)] == ["COMPLETED", "COMPLETED"]
    assert [float(rows[number]["execution_time"]) for number in (6, 7)] == [20, 20]
    assert float(rows[8]["starting_time"]) >= float(rows[4]["finish_time"]) > 150


def test_ranks_start_on_the_hosts_of_their_job(simunix: Simunix, tmp_path: Path, root: Path) -> None:
    """Batsim's example of its profiles: qrsh -inherit starts a rank on each host."""
    trace = ROOT / "scenarios/traces/batsim_test_various_profile_types.json"
    scenario = write(tmp_path, root)
    scenario.write_text(
        scenario.read_text().replace("small.swf", f"{trace}, resources: nodes").replace("cores: 4, memory", "cores: 1, memory")
    )
    rows = run(simunix, scenario, tmp_path / "out").rows
    assert len(rows) == 11 and {row["final_state"] for row in rows} == {"COMPLETED"}
    assert [len(row["allocated_hosts"].split(",")) for row in rows if row["metadata"] in ("simple", "2_resources")] == [4, 2]


RECOVERY = """
for name in waits runs lost; do qsub -terse -r y -N $name -b y sleep 200 >/dev/null; done
sleep 300; qstat -u '*' >/dev/null && echo again
sleep 600; for name in waits runs lost; do qacct -j $name | grep -E '^(failed|exit_status|jobname)' | tr -s ' ' | xargs; done
"""


def test_qmaster_and_execd_recover_from_power_cuts(simunix: Simunix, tmp_path: Path, root: Path) -> None:
    """The qmaster's host is off for half a minute while jobs run and wait, then a node with a job is."""
    events = "[{at: 1min, host: m, state: off, duration: 30s}, {at: 2min, host: n1, state: off, duration: 2min}]"
    scenario = write(tmp_path, root, rest=user_commands(RECOVERY, "start: 35s, ") + f"events: {events}\n")
    out = run(simunix, scenario, tmp_path / "out").output("l", "user")
    assert "again" in out and out.count("failed 0 exit_status 0") == 3
    assert "jobname lost failed 19 : before writing exit_status" in out
