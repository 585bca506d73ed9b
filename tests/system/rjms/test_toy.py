"""An RJMS of another package, which registers itself by an entry point: a workload through it, twice the same."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.system.rjms.workloads import SwfJob, write_workload
from tests.system.runs import run_twice
from tests.toy_rjms import adapter
from tests.toy_rjms.installation import install

if not os.access(adapter.PYTHON, os.X_OK):
    pytest.skip(f"the toy's programs are run by {adapter.PYTHON}", allow_module_level=True)
SCENARIO = """
name: toy
seed: 1
hosts: [{name: m, cores: 4}, {name: 'n[1-3]', cores: 4}]
toy: {controller: m, nodes: 'n[1-3]'}
workload: {trace: small.swf, start: 3s, dependencies: %s, arrays: bursts}
"""
JOBS = (
    SwfJob(1, 0, 60, 4, 100),
    SwfJob(2, 5, 60, 6, 100),
    SwfJob(3, 6, 300, 4, 20),
    SwfJob(4, 8, 20, 1, 100),
    SwfJob(5, 8, 20, 1, 100),
    SwfJob(6, 9, 10, 1, 100, before=2),
)


def simunix(environment: dict[str, str], *words: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "simunix.cli.main", *map(str, words)]
    return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=timeout)


def write(folder: Path, dependencies: str = "rjms") -> Path:
    return write_workload(folder, JOBS, SCENARIO % dependencies, processors=12)


@pytest.mark.slow
def test_a_workload_through_an_rjms_of_another_package(tmp_path: Path) -> None:
    with_toy = partial(simunix, install(tmp_path / "site"))
    ran, _ = run_twice(with_toy, write(tmp_path), tmp_path, timeout=120)
    assert (ran.record["rjms"], ran.record["deterministic"]) == ("toy 1.0", True), ran.record["disturbances"]
    rows = ran.jobs
    assert [rows[n]["final_state"] for n in range(1, 7)] == [*["COMPLETED"] * 2, "TIMEOUT", *["COMPLETED"] * 3]
    assert [round(float(rows[n]["execution_time"])) for n in range(1, 7)] == [60, 60, 20, 20, 20, 10]
    assert [rows[n]["allocated_hosts"] for n in (1, 2, 3)] == ["n1", "n2,n3", "n1"]
    assert float(rows[6]["starting_time"]) >= float(rows[2]["finish_time"])
    assert list(ran.job_numbers("m").values()) == ["1", "2", "3", "4_0", "4_1", "5"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("tests.toy_rjms.missing:TOY", "ModuleNotFoundError: No module named 'tests.toy_rjms.missing'; mend or uninstall"),
        ("tests.toy_rjms.adapter:missing", "AttributeError: module 'tests.toy_rjms.adapter' has no attribute 'missing'"),
        ("simunix.rjms.slurm.adapter:SLURM", "'slurm' cannot be the key of its section in a scenario"),
    ],
)
def test_a_package_that_cannot_be_used(tmp_path: Path, value: str, message: str) -> None:
    done = simunix(install(tmp_path / "site", value), "run", write(tmp_path), "--out", tmp_path / "out")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert f"entry point toy = {value} of the group simunix.rjms: {message}" in done.stderr
