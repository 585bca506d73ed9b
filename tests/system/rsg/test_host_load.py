"""/proc tells of what actors compute by name, where it tells of computing at all."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix

COMPUTE = """
import time
from simunix.rsg import this_actor
speed = this_actor.get_host().speed
one, other, held = (this_actor.exec_async(150 * speed) for _ in range(3))
bounded = this_actor.exec_init(37.5 * speed).set_bound(speed / 4).start()
held.suspend()
for execution in (one, other, bounded):
    execution.wait()
"""
LOOK = """
import time
for wait in (60, 100):
    time.sleep(wait)
    with open("/proc/stat") as file:
        lines = [line.split() for line in file]
    busy = {line[0]: int(line[1]) for line in lines if line[0].startswith("cpu")}
    running = next(int(line[1]) for line in lines if line[0] == "procs_running")
    with open("/proc/loadavg") as file:
        print(*busy.values(), running, *file.read().split()[:3])
"""
SCENARIO = """
name: load
cpu_policy: {default: POLICY, programs: {PYTHON: free}}
hosts: [{name: a, cores: 4}]
environment: {PYTHONPATH: ROOT}
processes:
  - {name: compute, host: a, command: [EXECUTABLE, FOLDER/compute.py]}
  - {name: look, host: a, command: [EXECUTABLE, FOLDER/look.py]}
"""
"""Two executions have a core each for 150 s, one has a quarter of a core, one is suspended."""


def looks(simunix: Simunix, folder: Path, policy: str) -> list[list[float]]:
    text = SCENARIO
    for name, value in (
        ("POLICY", policy),
        ("FOLDER", str(folder)),
        ("PYTHONPATH", "PATH_OF_MODULES"),
        ("PYTHON", Path(sys.executable).name),
        ("PATH_OF_MODULES", "PYTHONPATH"),
        ("ROOT", str(ROOT)),
        ("EXECUTABLE", sys.executable),
    ):
        text = text.replace(name, value)
    (folder / "s.yaml").write_text(text)
    (folder / "compute.py").write_text(COMPUTE)
    (folder / "look.py").write_text(LOOK)
    done = simunix("run", folder / "s.yaml", "--set", f"shared=[{folder}, {ROOT}]", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    lines = (folder / "out/hosts/a/look.out").read_text().splitlines()
    return [[float(word) for word in line.split()] for line in lines]


def test_executions_by_name_keep_the_cores_of_their_host_busy(simunix: Simunix, tmp_path: Path) -> None:
    first, second = looks(simunix, tmp_path, "modelled")
    assert first[:5] == pytest.approx([13500, 6000, 6000, 1500, 0], abs=8)  # hundredths, of all cores and of each
    assert first[5] == 4  # with who looks
    assert first[6:] == pytest.approx([3 * (1 - math.exp(-1 / minutes)) for minutes in (1, 5, 15)], abs=0.03)
    assert second[:5] == pytest.approx([33750, 15000, 15000, 3750, 0], abs=8)
    assert second[5] == 1


def test_all_is_idle_where_computing_takes_no_time(simunix: Simunix, tmp_path: Path) -> None:
    assert looks(simunix, tmp_path, "free") == [[0, 0, 0, 0, 0, 1, 0, 0, 0]] * 2
