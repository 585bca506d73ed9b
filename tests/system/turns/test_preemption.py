"""Taking the turn back from who computes on: what run.json says of it, and how to do without (`preempt_after`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Simunix

pytestmark = pytest.mark.slow  # the server looks up every 0.1 s of wall time, so that nothing shorter is ever taken back

SPINS = """
import mmap, os, time
word = mmap.mmap(-1, 4096)
if os.fork() == 0:
    time.sleep(1)
    word[0] = 1
    os._exit(0)
while not word[0]:  # no call
    pass
print(time.strftime("%T"))
"""
COMPUTES = """
for _ in range(4 * 10**7):  # no call
    pass
print("done")
"""
READS = """
import resource, time
begin, end = time.process_time(), time.time() + 2
while time.time() < end:
    for _ in range(20_000):  # no call but the clock
        pass
print(round(time.process_time() - begin, 1), round(resource.getrusage(resource.RUSAGE_SELF).ru_utime, 1))
"""


def run(simunix: Simunix, folder: Path, script: str, preempt_after: str) -> tuple[str, dict[str, Any]]:
    """What a Python script said beside a process that sleeps, and the run's record."""
    (folder / "script.py").write_text(script)
    (folder / "s.yaml").write_text(
        f"name: preempted\nhosts: [{{name: a}}]\nstop: processes\npreempt_after: {preempt_after}\nprocesses:\n"
        f"  - {{name: script, host: a, command: [/usr/bin/python3, {folder}/script.py]}}\n"
        "  - {name: other, host: a, command: [/bin/sleep, 2]}\n"
    )
    done = simunix("run", folder / "s.yaml", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads((folder / "out" / "run.json").read_text())
    assert ("preempted, so this run is not deterministic" in done.stderr) == (record["counts"]["preemptions"] > 0)
    return (folder / "out" / "hosts" / "a" / "script.out").read_text(), record


def test_a_spinner_is_preempted_and_counted(simunix: Simunix, tmp_path: Path) -> None:
    said, record = run(simunix, tmp_path, SPINS, "20ms")
    assert said == "00:00:01\n"
    assert record["counts"]["preemptions"] > 0
    assert record["deterministic"] is False


def test_computing_counts_too(simunix: Simunix, tmp_path: Path) -> None:
    said, record = run(simunix, tmp_path, COMPUTES, "20ms")
    assert said == "done\n"
    assert record["counts"]["preemptions"] > 0
    assert record["deterministic"] is False


def test_nobody_is_preempted_if_asked(simunix: Simunix, tmp_path: Path) -> None:
    said, record = run(simunix, tmp_path, COMPUTES, "0")
    assert said == "done\n"
    assert record["counts"]["preemptions"] == 0
    assert record["deterministic"] is True


def test_computing_until_the_clock_says_so_ends(simunix: Simunix, tmp_path: Path) -> None:
    """20,000 rounds of a loop cost no virtual time, and a clock read 50 ns: without CPU time this would take hours."""
    said, record = run(simunix, tmp_path, READS, "20ms")
    assert said == "2.0 2.0\n"
    assert record["counts"]["charged_computing"] > 0
    assert record["deterministic"] is False
    assert any("its CPU time passes from here on" in warning for warning in record["warnings"])


def test_a_benchmark_that_doubles_its_rounds_ends(simunix: Simunix) -> None:
    done = simunix("run", "--", "python3", "-m", "timeit", "sum(range(1000))", timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split(":")[1].split()[0]) > 1
    assert "nsec per loop" not in done.stdout


def test_virtual_time_passes_a_thread_that_computes_on_as_fast_as_its_cpu_time(simunix: Simunix, tmp_path: Path) -> None:
    """Beside a daemon that wakes up ten times a second; each time used to cost five times `preempt_after`."""
    (tmp_path / "s.yaml").write_text(
        "hosts: [{name: 'a,b'}]\nstop: time\nuntil: 5s\npreempt_after: 100ms\nprocesses:\n"
        "  - {name: spins, host: a, command: 'while :; do :; done'}\n"
        "  - {name: wakes, host: b, command: 'while sleep 0.1; do :; done'}\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=120)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["virtual_s"] == 5 and record["deterministic"] is False
    assert record["counts"]["preemptions"] >= 50
