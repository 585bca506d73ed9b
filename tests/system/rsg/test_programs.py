"""Programs in C and C++ that are written against librsg."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.system.rsg.running import HERE, PLATFORMS, compiled, run

PLATFORM = PLATFORMS / "small_platform.xml"


def test_processes_and_threads_exchange_real_bytes(tmp_path: Path) -> None:
    told = run(PLATFORM, compiled(HERE / "programs/exchange.c", tmp_path)).splitlines()
    assert told[0] == "thread one at 2.000000000000"
    assert told[1].startswith("sent at 150.159")
    assert told[2:] == ["child of 1 got 100000 bytes as 1000000000", "the sum is right"]


FAMILIES = """\
the platform has no such host
actor families 1 on Tremblay, maestro 0
child on Fafard of 1 slept until 1.500
date 5.000
killed at 6.000
empty 1, listen 0
empty 0, listen 1
hello of 6 bytes
number 42
timeout
wait_any_for -1
consumed 0
consumed 1
consumed 2
late 1, try_lock 0
from the child
hundred clients, no host 1
"""


@pytest.mark.slow
def test_a_program_for_remote_simgrid_compiles_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RSG_AUTOCONNECT", "1")
    assert run(PLATFORM, compiled(HERE / "programs/families.cpp", tmp_path)) == FAMILIES


SCENARIO = """
name: actors
hosts: [{{name: "node[0-2]", cores: 2, speed: 1Gf}}]
network: {{bandwidth: 1Gbps, latency: 100us}}
shared: [{root}]
environment: {{PYTHONPATH: {root}}}
actors:
  - {{name: master, host: node0, command: [{python}, {program}, master]}}
  - {{name: one, host: node1, command: [{python}, {program}, worker 0]}}
  - {{name: other, host: node2, command: [{python}, {program}, worker 1]}}
"""


def test_a_scenario_names_actors_on_hosts(tmp_path: Path) -> None:
    scenario = tmp_path / "actors.yaml"
    scenario.write_text(SCENARIO.format(root=ROOT, python=sys.executable, program=HERE / "programs/actor.py"))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "simunix.cli.main", "run", str(scenario), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    told = sorted(path.read_text().strip() for path in (out / "hosts").glob("*/*.out"))
    assert [line.split(" ends")[0] for line in told] == ["master 1 on node0", "one 2 on node1", "other 3 on node2"]
    dates = [float(line.split()[-1]) for line in told]
    assert 2.0 < dates[1] < 2.1 and 3.0 < dates[2] < 3.1 and dates[0] == pytest.approx(max(dates), abs=0.01)
