"""`simunix bench` as its users run it; figures are not judged, only that they are there and that nothing stays behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from simunix_bench.requirements import lacks
from tests.conftest import ROOT, Simunix, processes_named


def shared_memory() -> set[str]:
    """What lies in /dev/shm, but for semaphores of Python's multiprocessing, which other tests use at the same time."""
    return {name for name in os.listdir("/dev/shm") if not name.startswith("sem.mp-")}


def rows(file: Path) -> dict[str, dict[str, object]]:
    return {row["name"]: row for row in json.loads(file.read_text())["rows"]}


@pytest.mark.slow
def test_turns(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("bench", "turn", "--quick", "--json", tmp_path / "out.json", timeout=300)
    assert done.returncode == 0, done.stderr
    assert "turn through the server ÷ futex hand-over" in done.stdout
    assert done.stderr == ""
    found = rows(tmp_path / "out.json")
    assert {"handover", "turn-ratio", "relay", "step", "lone-sleep", "trapped-call", "preloaded-call"} <= set(found)
    assert all(isinstance(row["value"], float) for row in found.values())


def test_an_unknown_name_is_one_line(simunix: Simunix) -> None:
    done = simunix("bench", "tern")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("simunix: bench: there is no benchmark tern; there are: turn, ")
    assert len(done.stderr.splitlines()) == 1


def test_the_list_measures_nothing(simunix: Simunix) -> None:
    done = simunix("bench", "--list")
    assert done.returncode == 0
    assert "hundred-jobs" in done.stdout


@contextlib.contextmanager
def started(tmp_path: Path, name: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "simunix.cli.main", "bench", name, "--json", str(tmp_path / "out.json")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=tmp_path)
    try:
        yield process
        process.wait(60)
    finally:
        process.kill()
        process.wait()


def await_file(folder: Path, pattern: str) -> None:
    deadline = time.monotonic() + 60
    while not list(folder.glob(pattern)):
        assert time.monotonic() < deadline, f"no {pattern}"
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_stays_of_an_emulation_when_stopped(number: signal.Signals, tmp_path: Path) -> None:
    """Killed, it leaves its folder; never a process."""
    with started(tmp_path, "turn") as process:
        await_file(tmp_path, "simunix-bench-*/turn/calls")
        process.send_signal(number)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    deadline = time.monotonic() + 60
    while processes_named(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_named(str(tmp_path)) == []
    if number == signal.SIGINT:
        assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.slow
@pytest.mark.slurm
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_of_real_daemons_when_stopped(number: signal.Signals, tmp_path: Path) -> None:
    if why := lacks(["namespaces"]):
        pytest.skip(why)
    with started(tmp_path, "hundred-jobs") as process:
        await_file(tmp_path, "simunix-bench-*/hundred-jobs/real-1-*/submissions.csv")
        process.send_signal(number)
    deadline = time.monotonic() + 60
    while processes_named(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_named(str(tmp_path)) == []


@pytest.mark.endurance
@pytest.mark.slurm
def test_a_hundred_jobs_under_faketime_and_simunix(simunix: Simunix, tmp_path: Path) -> None:
    if why := lacks(["faketime", "namespaces"]):
        pytest.skip(why)
    before = shared_memory()
    done = simunix("bench", "hundred-jobs", "--quick", "--json", tmp_path / "out.json", timeout=600, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert os.listdir(tmp_path) == ["out.json"]  # no core of a daemon that faketime has confused
    found = rows(tmp_path / "out.json")
    assert found["hundred-real"]["verdict"] == "not measured"
    assert found["hundred-simunix-lost"]["value"] == 0
    assert found["hundred-simunix-shortest"]["value"] in (60.0, 61.0)
    assert found["hundred-simunix-longest"]["value"] in (60.0, 61.0)
    assert isinstance(found["hundred-faketime-10-wall"]["value"], float)
    assert shared_memory() <= before


def test_without_gcc_it_says_so(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("bench", "turn", env={"PATH": str(tmp_path)})
    assert done.returncode == 0
    assert "gcc not installed: apt install gcc" in done.stdout


@pytest.mark.slow
def test_spawns(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("bench", "spawn", "--quick", "--json", tmp_path / "out.json", timeout=300)
    assert done.returncode == 0, done.stderr
    found = rows(tmp_path / "out.json")
    for name in ("true", "shell", "posix-spawn", "fork"):
        assert {f"spawn-{name}-{figure}" for figure in ("native", "inside", "extra", "faults", "messages")} <= set(found)
    assert found["spawn-posix-spawn-messages"]["value"] == 3.0
    assert found["spawn-true-messages"]["value"] == 4.0
