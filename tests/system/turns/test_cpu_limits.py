"""Limits and timers of CPU time expire by what was charged (cpu_policy: charged, modelled), not by what this computer took."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix

COSTS = "format: simunix costs 1\nprograms:\n  cpu_limits: {getppid: 1000000}\n"
EXACT = """\
CPU time limit exceeded 1000 1000 -1
CPU time limit exceeded 2000 2000 -1
killed 9
limit 1 3
Profiling timer expired 30 30 -1
Profiling timer expired 40 40 -1
Profiling timer expired 50 50 -1
Profiling timer expired 60 60 -1
Profiling timer expired 70 70 -1
left 9
Virtual timer expired 30 30 -1
Virtual timer expired 40 40 -1
Virtual timer expired 50 50 -1
Virtual timer expired 60 60 -1
Virtual timer expired 70 70 -1
left 9
User defined signal 1 40 40 7
User defined signal 1 60 60 7
User defined signal 1 80 80 7
User defined signal 1 90 90 7
User defined signal 1 110 110 7
User defined signal 1 130 130 7
"""
"""Each getppid(2) takes a millisecond. The last timer is of one thread, and another one has computed for 50 ms before."""


def test_modelled_time_ends_limits_and_timers_to_the_nanosecond(simunix: Simunix, cpu_limits: Path, tmp_path: Path) -> None:
    (tmp_path / "costs.yaml").write_text(COSTS)
    modelled = ("--set", "cpu_policy=modelled", "--set", f"cpu_costs={tmp_path}/costs.yaml", "--out", str(tmp_path / "out"))
    all_of_them = "; ".join(f"{cpu_limits} {what}" for what in ("limit", "prof", "virtual", "process", "thread"))
    done = simunix("run", *modelled, "--", "sh", "-c", all_of_them)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", EXACT)
    assert json.loads((tmp_path / "out/run.json").read_text())["deterministic"]


def test_a_loop_without_a_call_meets_its_timer_where_it_was_charged(simunix: Simunix, cpu_limits: Path, tmp_path: Path) -> None:
    done = simunix("run", "--set", "cpu_policy=charged", "--out", str(tmp_path / "out"), "--", str(cpu_limits), "prof", "loop")
    assert (done.returncode, done.stderr) == (0, "")
    moments = [int(moment) for moment in re.findall(r"Profiling timer expired (\d+) \d+ -1", done.stdout)]
    assert (
        len(moments) in (5, 6) and moments[0] >= 30
    )  # two that were due may come one right after the other and moments == sorted(moments)
    disturbances = json.loads((tmp_path / "out/run.json").read_text())["disturbances"]
    assert len(disturbances) == 1 and disturbances[0].startswith("computing took the time that it took here")


@pytest.mark.slow
def test_a_loop_is_killed_at_its_limit_and_a_replay_repeats_it(simunix: Simunix, cpu_limits: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    done = simunix("run", "--set", "cpu_policy=charged", "--out", str(one), "--", str(cpu_limits), "limit", "loop")
    assert (done.returncode, done.stderr) == (0, "")
    moments = [int(moment) for moment in re.findall(r"CPU time limit exceeded (\d+)", done.stdout)]
    assert len(moments) == 2 and 1000 <= moments[0] < 1500 and 2000 <= moments[1] < 2500
    assert "killed 9\nlimit 1 3\n" in done.stdout
    again = simunix("run", "--replay-cpu", str(one), "--out", str(two), "--", str(cpu_limits), "limit", "loop")
    assert (again.returncode, again.stderr, again.stdout) == (0, "", done.stdout)
    assert (one / "events.jsonl").read_bytes() == (two / "events.jsonl").read_bytes()


INHERITED = """
ulimit -t 1
exec PYTHON -c '
import resource
print(resource.getrlimit(resource.RLIMIT_CPU))
'
"""


@pytest.mark.parametrize("policy", ["free", "charged", "modelled"])
def test_a_limit_is_kept_by_new_programs(simunix: Simunix, policy: str) -> None:
    done = simunix("run", "--set", f"cpu_policy={policy}", "--", "sh", "-c", INHERITED.replace("PYTHON", sys.executable))
    assert (done.returncode, done.stdout) == (0, "(1, 1)\n"), done.stderr
