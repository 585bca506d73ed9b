"""If computing takes time, /proc and sysinfo(2) show how busy the cores of a host were, and a warning says if they are
too few.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix

PROGRAM = Path(__file__).parents[1] / "programs/cpu_limits.c"
COSTS = "format: simunix costs 1\nprograms:\n  cpu_limits: {getppid: 1000000000}\n"
LOOK = """
import os, struct, ctypes, time
for wait in (60, 140, 0.5):
    time.sleep(wait)
    with open("/proc/stat") as file:
        lines = [line.split() for line in file]
    print(*[sum(int(line[place]) for line in lines if line[0] == name) for name in ("cpu", "cpu0", "cpu2") for place in (1, 4)])
    with open("/proc/uptime") as file:
        print(file.read().split()[1])
    with open("/proc/loadavg") as file:
        print(file.read().strip())
    room = ctypes.create_string_buffer(256)
    ctypes.CDLL(None).sysinfo(room)
    print(*[load / 65536 for load in struct.unpack_from("3Q", room, 8)])
"""
SCENARIO = """
name: load
cpu_policy: {default: POLICY, programs: {PYTHON: free}}
cpu_costs: costs.yaml
hosts: [{name: a, cores: 3}]
processes:
  - {name: one, host: a, command: [PROGRAM, calls, '100']}
  - {name: two, host: a, command: [taskset, '3', PROGRAM, calls, '100']}
  - {name: three, host: a, command: [taskset, '3', PROGRAM, calls, '100']}
  - {name: four, host: a, command: [taskset, '3', PROGRAM, calls, '100']}
  - {name: look, host: a, command: [EXECUTABLE, FOLDER/look.py]}
"""
"""One computes alone on a core for 100 s; three share two cores for 150 s."""


def write(folder: Path, text: str, policy: str) -> None:
    program = folder / "cpu_limits"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", program, PROGRAM, "-pthread"], check=True)
    for name, value in (
        ("POLICY", policy),
        ("FOLDER", str(folder)),
        ("PYTHON", Path(sys.executable).name),
        ("PROGRAM", str(program)),
        ("EXECUTABLE", sys.executable),
    ):
        text = text.replace(name, value)
    (folder / "s.yaml").write_text(text)


def looks(simunix: Simunix, folder: Path, policy: str) -> list[list[float]]:
    (folder / "costs.yaml").write_text(COSTS)
    (folder / "look.py").write_text(LOOK)
    write(folder, SCENARIO, policy)
    done = simunix("run", folder / "s.yaml", "--set", f"shared=[{folder}]", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    lines = (folder / "out/hosts/a/look.out").read_text().replace("/", " ").splitlines()
    return [[float(word) for word in line.split()] for line in lines]


def test_the_cores_of_a_host_are_busy_while_programs_compute(simunix: Simunix, tmp_path: Path) -> None:
    first, uptime, load, sysinfo, second, _, later, _, after, *_ = looks(simunix, tmp_path, "modelled")
    assert first[:2] == pytest.approx([18000, 100 * uptime[0]], abs=6)  # user, idle of all cores, in hundredths
    assert first[2] == pytest.approx(6000, abs=2) and first[4] == pytest.approx(6000, abs=2)
    assert second[0] == pytest.approx(40000, abs=5) and second[2] == pytest.approx(15000, abs=5)
    assert second[4] == pytest.approx(10000, abs=5)
    assert load[:3] == pytest.approx([4 * (1 - math.exp(-1 / minutes)) for minutes in (1, 5, 15)], abs=0.03)
    assert sysinfo == pytest.approx(load[:3], abs=0.01)
    assert load[3] == 5
    gone = 50 / 60  # minutes, for which nobody computed
    four, three = (math.exp(-each) for each in (100 / 60, 50 / 60))
    expected = (4 * (1 - four) * three + 3 * (1 - three)) * math.exp(-gone)
    assert later[0] == pytest.approx(expected, abs=0.05)
    assert after[:2] == pytest.approx([40000, second[1] + 150], abs=3)


def test_all_is_idle_where_computing_takes_no_time(simunix: Simunix, tmp_path: Path) -> None:
    first, _, load, sysinfo, *_ = looks(simunix, tmp_path, "free")
    assert (first[0], first[2], load[:4], sysinfo) == (0, 0, [0, 0, 0, 1], [0, 0, 0])


OVERSUBSCRIBED = """
name: oversubscribed
until: 50min
cpu_policy: {default: POLICY, programs: {PYTHON: free}}
cpu_costs: costs.yaml
hosts: [{name: a, cores: 2}, {name: b, cores: 3}]
processes:
  - {name: two1, host: a, command: [PROGRAM, calls, '1000000']}
  - {name: two2, host: a, command: [PROGRAM, calls, '1000000']}
  - {name: one, host: a, start: 4min, command: [FOLDER/other, calls, '1000000']}
  - {name: three1, host: b, command: [PROGRAM, calls, '1000000']}
  - {name: three2, host: b, command: [PROGRAM, calls, '1000000']}
  - {name: three3, host: b, command: [PROGRAM, calls, '1000000']}
"""
"""For ever: three threads on two cores from the fourth minute on, and on the other host as many as it has cores."""


def test_a_host_that_is_oversubscribed_for_ever_is_told_once_with_its_programs(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "costs.yaml").write_text(COSTS.replace("1000000000", "10000000000") + "  other: {getppid: 10000000000}\n")
    write(tmp_path, OVERSUBSCRIBED, "modelled")
    (tmp_path / "other").symlink_to("cpu_limits")
    done = simunix("run", tmp_path / "s.yaml", "--set", f"shared=[{tmp_path}]", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    warnings = [line for line in done.stderr.splitlines() if "more threads" in line]
    assert warnings == [
        "simunix: host a: from 600 s on, for 10 minutes and more, more threads want to compute than its 2 cores can run: "
        "cpu_limits 67 %, other 33 %; give it more cores (hosts: cores), or let less compute there"
    ]
    record = json.loads((tmp_path / "out/run.json").read_text())
    assert record["oversubscribed"] == {"a": {"since_s": 600, "for_s": 2400, "programs": {"cpu_limits": 0.667, "other": 0.333}}}
    assert record["deterministic"]
