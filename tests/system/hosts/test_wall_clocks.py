"""Clocks of hosts that are set by events: CLOCK_REALTIME jumps on one host, CLOCK_MONOTONIC on none."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import run_twice

SCENARIO = """\
epoch: 2000-01-01T00:00:00Z
hosts: [{name: a}, {name: b}]
processes:
  - {name: p, host: a, command: [PYTHON, PROGRAM]}
  - {name: p, host: b, command: [PYTHON, PROGRAM]}
"""
EVENTS = """\
events:
  - {at: 5s, host: a, clock: +1h}
  - {at: 15s, host: a, clock: -90s, duration: 10s}
  - {at: 15s, host: b, clock: 0.5, duration: 10s}
"""
PROGRAM = """\
import os, subprocess, tempfile, time
begin = time.monotonic()
for moment in (0, 10, 20, 30):
    time.sleep(max(begin + moment - time.monotonic(), 0))
    print(moment, round(time.time() - 946684800, 1), round(time.monotonic() - begin, 1), flush=True)
print(subprocess.run(['date', '+%H:%M'], capture_output=True, text=True).stdout.strip(), flush=True)
timer = time.monotonic()
time.sleep(3)
print(round(time.monotonic() - timer, 1), flush=True)
with tempfile.TemporaryFile() as file:
    print(abs(os.fstat(file.fileno()).st_mtime - time.time()) < 1)
"""


def run(simunix: Simunix, tmp_path: Path, events: str, name: str) -> Path:
    program, path = tmp_path / "program.py", tmp_path / "scenario.yaml"
    program.write_text(PROGRAM)
    path.write_text(SCENARIO.replace("PYTHON", sys.executable).replace("PROGRAM", str(program)) + events)
    done = simunix("run", str(path), "--out", name, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path / name


def test_one_host_after_the_other(simunix: Simunix, tmp_path: Path) -> None:
    out = run(simunix, tmp_path, EVENTS, "set")
    a, b = ((out / f"hosts/{host}/p.out").read_text().split("\n") for host in "ab")
    assert [line.split() for line in a[:4]] == [
        ["0", "0.0", "0.0"],
        ["10", "3610.0", "10.0"],
        ["20", "-70.0", "20.0"],
        ["30", "3630.0", "30.0"],
    ]
    assert a[4:7] == ["01:00", "3.0", "True"]
    assert [line.split()[1] for line in b[:4]] == ["0.0", "10.0", "20.5", "30.0"]
    lines = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    set_to = [(line["host"], line["ahead_ns"]) for line in lines if line["event"] == "clock"]
    assert set_to == [("a", 3600 * 10**9), ("a", -90 * 10**9), ("b", 5 * 10**8), ("a", 3600 * 10**9), ("b", 0)]


def test_a_clock_that_is_set_to_what_it_shows_changes_nothing(simunix: Simunix, tmp_path: Path) -> None:
    plain = run(simunix, tmp_path, "", "plain") / "hosts/a/p.out"
    same = run(simunix, tmp_path, "events: [{at: 5s, host: 'a,b', clock: 0}]", "same") / "hosts/a/p.out"
    assert plain.read_text() == same.read_text()


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("clock: soon", "expected how far the clock is ahead, such as '+30s' or '-2min'"),
        ("drift: fast", "expected how fast the clock drifts, such as '+200ppm', 10000ppm at most, got 'fast'"),
        ("drift: 10001", "expected how fast the clock drifts, such as '+200ppm', 10000ppm at most, got 10001"),
        ("drift: .nan", "expected how fast the clock drifts, such as '+200ppm', 10000ppm at most, got nan"),
    ],
)
def test_a_wrong_clock_is_refused(simunix: Simunix, tmp_path: Path, key: str, says: str) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.replace("PYTHON", "true").replace(", PROGRAM", "") + f"events: [{{at: 5s, host: a, {key}}}]")
    done = simunix("run", str(path), cwd=tmp_path)
    assert done.returncode == 2 and says in done.stderr and len(done.stderr.strip().splitlines()) == 1


DRIFTS = """\
events:
  - {at: 5s, host: a, drift: +1000ppm, duration: 20s}
  - {at: 5s, host: b, drift: -200ppm}
"""
DRIFTING = """\
import time
begin, last = time.time() - time.monotonic(), 0
for second in range(31):
    for _ in range(50):
        assert last <= time.time_ns()
        last = time.time_ns()
        time.sleep(0.0005)
    print(round((time.time() - time.monotonic() - begin) * 1000, 1), flush=True)
    time.sleep(0.975)
"""


def test_a_clock_drifts_and_is_set_right(simunix: Simunix, tmp_path: Path) -> None:
    program, path = tmp_path / "program.py", tmp_path / "scenario.yaml"
    program.write_text(DRIFTING)
    path.write_text(SCENARIO.replace("PYTHON", sys.executable).replace("PROGRAM", str(program)) + DRIFTS)
    first, _ = run_twice(simunix, path, tmp_path)
    a, b = ([float(line) for line in first.output(host, "p").split()] for host in "ab")
    assert a[:5] == [0] * 5 and a[26:] == [0] * 5 and b[:5] == [0] * 5
    for second in range(6, 25):
        assert abs(a[second] - (second - 5)) <= 0.1
        assert abs(b[second] + (second - 5) * 0.2) <= 0.1
    lines = [json.loads(line) for line in first.events]
    set_to = [(line["host"], line["ppm"]) for line in lines if line["event"] == "drift"]
    assert set_to == [("a", 1000), ("b", -200), ("a", 0)]
