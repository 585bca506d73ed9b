"""Many hosts: what does not fit is refused, what is cut short leaves nothing, who fails is named, the merger is put back."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Simunix, mounts_of, processes_named
from tests.starts import start

MERGER = Path("/sys/kernel/mm/ksm")
SETTINGS = ("run", "pages_to_scan", "sleep_millisecs")
MERGING = Path("/run/simunix-merging")
"""Locked by every run that merges, whoever's it is (csrc/hostinit/ksm.c): the merger is the whole computer's."""
HOSTS = 40
SCENARIO = """
name: many
merge_pages: MERGE
hosts: [{name: 'h[1-40]'}]
processes:
  - {name: p, host: 'h[1-40]', command: 'exec sleep MARK'}
"""


@pytest.fixture
def mark() -> str:
    """A number of seconds that no other program sleeps for."""
    return f"{os.getpid()}971"


def merger() -> list[str]:
    """Its settings, none where the kernel has none."""
    return [(MERGER / name).read_text() for name in SETTINGS if (MERGER / name).exists()]


def nobody_merges() -> bool:
    """Whether no run on this computer has the merger on, of these tests or of others."""
    try:
        with MERGING.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except BlockingIOError:
        return False
    return True


@pytest.fixture
def found() -> list[str]:
    """The merger's settings while nobody merges; a run that was killed may have left a note of what they are to be."""
    if not awaited(nobody_merges, 60):
        pytest.skip("another run on this computer merges pages for longer than a minute")
    note = MERGING.read_text().split() if MERGING.exists() else []
    if not note:
        return merger()
    pages, milliseconds, run = note
    return [f"{word}\n" for word in (run, pages, milliseconds)]


def is_put_back(found: list[str]) -> bool:
    """Whether the settings are those again; as long as others merge that cannot be said."""
    return merger() == found or (not nobody_merges() and awaited(lambda: nobody_merges() and merger() == found, 60))


def awaited(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether it comes true within so many seconds of real time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def begin(tmp_path: Path, mark: str, merge: str = "no") -> subprocess.Popen[str]:
    """A run whose start-up takes a while."""
    scenario = tmp_path / "many.yaml"
    scenario.write_text(SCENARIO.replace("MARK", mark).replace("MERGE", merge))
    words = ("run", scenario, "--out", tmp_path / "out", "--pace", "1")
    return start(*words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0)


def has_begun(tmp_path: Path) -> bool:
    """Whether some hosts are there, but not all."""
    return len(list((tmp_path / "out").glob("hosts/*/p.out"))) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_stopped_in_the_middle_of_its_start_leaves_nothing(tmp_path: Path, mark: str, number: signal.Signals) -> None:
    run = begin(tmp_path, mark)
    assert awaited(lambda: has_begun(tmp_path)), run.poll()
    factories = children_of(run.pid)
    run.send_signal(number)
    _, errors = run.communicate(timeout=30)
    assert run.returncode != 0
    assert "Traceback" not in errors
    assert awaited(lambda: not processes_named(f"sleep {mark}"))
    assert awaited(lambda: not any(Path("/proc", str(pid)).exists() for pid in factories))
    assert not mounts_of(tmp_path)


def children_of(pid: int) -> list[int]:
    """Of a process's threads together."""
    return [int(word) for file in Path("/proc", str(pid), "task").glob("*/children") for word in file.read_text().split()]


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or not MERGER.exists(), reason="needs root and a kernel that merges pages")
@pytest.mark.parametrize("send", [os.kill, os.killpg])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_merger_is_put_back_as_it_was_found(
    tmp_path: Path, mark: str, number: signal.Signals, send: Callable[[int, int], None], found: list[str]
) -> None:
    run = begin(tmp_path, mark, merge="yes")
    assert awaited(lambda: (tmp_path / "out/hosts/h40/p.out").exists())
    assert (MERGER / "run").read_text() == "1\n"
    send(run.pid, number)
    run.communicate(timeout=30)
    assert awaited(lambda: is_put_back(found)), merger()


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or not MERGER.exists(), reason="needs root and a kernel that merges pages")
def test_runs_that_merge_at_the_same_time_do_not_stop_each_other(tmp_path: Path, mark: str, found: list[str]) -> None:
    runs = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        runs.append(begin(tmp_path / name, mark, merge="yes"))
    for name in ("one", "two"):
        assert awaited(lambda name=name: has_begun(tmp_path / name))  # type: ignore[misc]
    runs[0].send_signal(signal.SIGINT)
    runs[0].communicate(timeout=30)
    assert (MERGER / "run").read_text() == "1\n"
    runs[1].send_signal(signal.SIGINT)
    runs[1].communicate(timeout=30)
    assert awaited(lambda: is_put_back(found)), merger()


def test_one_daemon_of_many_that_fails_is_named_in_one_line(simunix: Simunix, tmp_path: Path, mark: str) -> None:
    scenario = tmp_path / "many.yaml"
    text = SCENARIO.replace("MARK", mark).replace("MERGE", "no")
    scenario.write_text(text + "  - {name: bad, host: h23, start: 1s, essential: true, command: 'exit 3'}\n")
    done = simunix("run", scenario, "--out", tmp_path / "out")
    (line,) = done.stderr.splitlines()
    assert "h23: bad ended with exit code 3 at 1.0" in line
    assert done.returncode == 1
    assert not processes_named(f"sleep {mark}")


@pytest.mark.slow
def test_a_scenario_that_does_not_fit_is_refused_in_one_line(simunix: Simunix, tmp_path: Path) -> None:
    scenario = tmp_path / "large.yaml"
    scenario.write_text("hosts: [{name: 'h[1-30000]'}]\nprocesses: [{name: p, host: 'h[1-30000]', command: 'sleep 1'}]\n")
    done = simunix("run", scenario, "--out", tmp_path / "out", "--set", "merge_pages=false")
    lines = done.stderr.splitlines()
    assert done.returncode == 2
    assert len(lines) == 1, lines
    assert "the scenario needs about" in lines[0]
    assert "--set capacity=warn" in lines[0]
    assert not (tmp_path / "out" / "hosts").exists()
