"""A run that is ended in the middle: what the RJMS has recorded by then is in jobs.csv, as in a run that goes on to its end.

Grid Engine, OAR and HTCondor run in the roots of SIMUNIX_ROOTS (tests/roots.py), which are made if need be.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.system.rjms.test_gridengine import GRIDENGINE
from tests.system.rjms.test_htcondor import CONDOR
from tests.system.rjms.test_oar import OAR
from tests.system.rjms.workloads import SwfJob, write_workload
from tests.system.runs import Run, run

pytestmark = pytest.mark.slow
JOBS = tuple(SwfJob(number, 5 * number, 30, 4, 60) for number in range(1, 21))
"""For four nodes of 4 cores: a node each, so that five rounds of 30 s follow each other."""
START_S, MIDDLE_S = 40, 130
SCENARIO = f"""
name: interrupted
seed: 1
hosts: [{{{{name: 'm,l', cores: 4, memory: 8GiB}}}}, {{{{name: 'n[1-4]', cores: 4, memory: 8GiB}}}}]
{{root}}
{{rjms}}: {{{{controller: m, login: l, nodes: 'n[1-4]'{{keys}}}}}}
workload: {{{{trace: small.swf, start: {START_S}s}}}}
processes: [{{{{name: mark, host: l, start: {MIDDLE_S}s, command: '{{command}}'}}}}]
"""
PACE = 20
"""Virtual seconds in a real one: the signal comes some virtual seconds after the mark."""
LIMIT_S = 300.0
CASES = {
    "slurm": (None, ""),
    "gridengine": (GRIDENGINE, ", scheduler: {flush_submit_sec: 1, flush_finish_sec: 1}"),
    "oar": (OAR, ""),
    "htcondor": (CONDOR, ", configuration: {NEGOTIATOR_INTERVAL: 20}"),
}
ENDS = ("final_state", "starting_time", "execution_time", "finish_time", "waiting_time", "allocated_hosts")


def in_the_middle(scenario: Path, out: Path, *options: str) -> subprocess.Popen[str]:
    """The run of the scenario, as soon as its program `mark` has started."""
    words = [sys.executable, "-m", "simunix.cli.main", "run", str(scenario), "--out", str(out), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.monotonic() + LIMIT_S
    while not (out / "hosts/l/mark.out").exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    return process


def interrupted(scenario: Path, out: Path, number: signal.Signals) -> tuple[Run, str]:
    """Run the scenario, and end it by a signal in the middle; the run, and what it printed."""
    process = in_the_middle(scenario, out, "--pace", str(PACE))
    process.send_signal(number)
    output, _ = process.communicate(timeout=180)  # a busy computer takes long to ask an RJMS
    assert process.returncode == 128 + number, output
    return Run(out), output


@pytest.mark.parametrize("rjms", [pytest.param("slurm", marks=pytest.mark.slurm), "gridengine", "oar", "htcondor"])
def test_jobs_that_have_ended_are_in_jobs_csv(simunix: Simunix, tmp_path: Path, rjms: str) -> None:
    kept, keys = CASES[rjms]
    root = "" if kept is None else f"root: {kept.made(simunix)}"
    text = SCENARIO.format(rjms=rjms, root=root, keys=keys, command="true")
    scenario = write_workload(tmp_path, JOBS, text)
    whole = run(simunix, scenario, tmp_path / "whole").jobs
    ran, output = interrupted(scenario, tmp_path / "out", signal.SIGTERM)
    assert "interrupted; the results so far are kept" in output and "Traceback" not in output
    assert ran.record["ended"] == "interrupted" and ran.record["failure"] is None
    assert MIDDLE_S < ran.record["virtual_s"] < MIDDLE_S + 40
    ended = {number for number, row in whole.items() if float(row["finish_time"]) < MIDDLE_S}
    later = {number for number, row in whole.items() if float(row["finish_time"]) > ran.record["virtual_s"] + 1}
    assert len(ended) >= 3 and len(later) >= 3
    rows = ran.jobs
    for number in ended:
        assert [rows[number][name] for name in ENDS] == [whole[number][name] for name in ENDS]
    assert {rows[number]["final_state"] for number in later} <= {"UNFINISHED", "NOT_SUBMITTED"}
    assert f"jobs completed         │ {sum(row['final_state'] == 'COMPLETED' for row in rows.values()):>17}" in output


def test_what_nobody_can_be_asked_is_unknown(simunix: Simunix, tmp_path: Path) -> None:
    """OAR's database has lost its power: jobs may have ended or not, and no figure is printed as if that were known."""
    off = f"events: [{{at: {MIDDLE_S - 1}s, host: d, state: off}}]\n"
    text = SCENARIO.format(rjms="oar", root=f"root: {OAR.made(simunix)}", keys=", database: d", command="true")
    scenario = write_workload(tmp_path, JOBS, text.replace("'m,l'", "'m,l,d'") + off)
    ran, output = interrupted(scenario, tmp_path / "out", signal.SIGINT)
    assert {row["final_state"] for row in ran.rows} <= {"UNKNOWN", "NOT_SUBMITTED"} and "jobs unknown" in output
    assert "utilisation            │           unknown" in output


def test_another_signal_ends_the_run_at_once(simunix: Simunix, tmp_path: Path) -> None:
    """Nothing answers, since a program computes for ever: who does not want to wait sends the signal again."""
    text = SCENARIO.format(rjms="oar", root=f"root: {OAR.made(simunix)}", keys="", command="while :; do :; done")
    scenario = write_workload(tmp_path, JOBS, text + "preempt_after: 0s\n")
    process = in_the_middle(scenario, tmp_path / "out")
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    time.sleep(2)
    assert process.poll() is None
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 143 and time.monotonic() - began < 6 and "Traceback" not in output
    assert {row["final_state"] for row in Run(tmp_path / "out").rows} <= {"UNKNOWN", "NOT_SUBMITTED"}
