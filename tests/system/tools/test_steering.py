"""The time of a running emulation: `--pause-at`, and `simunix ctl DIR until`, `step`, `resume`, `pace`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simunix.app.join import NotRunningError, ask
from tests.conftest import Simunix
from tests.starts import without_notices
from tests.system.user import LIMIT_S, ROOT

TICKS = "name: ticks\nhosts: [{name: a}]\nprocesses: [{name: tick, host: a, command: 'while :; do sleep 10; date +%s; done'}]\n"


class Running:
    """A run of TICKS, paused at some moment."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.out = folder / "out"
        (folder / "s.yaml").write_text(TICKS)
        words = ["run", str(folder / "s.yaml"), "--epoch", "2020-01-01", "--out", str(self.out), *options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "simunix.cli.main", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        end = time.monotonic() + LIMIT_S
        while not self._is_paused():
            assert time.monotonic() < end and self.process.poll() is None
            time.sleep(0.02)

    def _is_paused(self) -> bool:
        try:
            return bool(ask(self.out, {"op": "status"})["paused"])
        except NotRunningError:
            return False

    @property
    def ticks(self) -> int:
        """How often the program has printed the time."""
        return len((self.out / "hosts/a/tick.out").read_text().splitlines())

    def end(self) -> str:
        """End the run; what it said on standard error."""
        if self.process.poll() is None:
            self.process.terminate()
        return without_notices(self.process.communicate(timeout=LIMIT_S)[1])


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    found = Running(tmp_path, "--pause-at", "1min")
    yield found
    found.end()


def ctl(simunix: Simunix, running: Running, *words: str) -> dict[str, Any]:
    """What `simunix ctl` answers."""
    done = simunix("ctl", running.out, *words)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_a_run_pauses_where_it_is_asked_to_and_goes_on_as_it_is_told(running: Running, simunix: Simunix) -> None:
    assert (ctl(simunix, running, "status")["virtual_s"], running.ticks) == (60.0, 5)
    assert ctl(simunix, running, "pace") == {"virtual_s": 60.0, "paused": True, "pace": None}
    there = ctl(simunix, running, "until", "2min")
    assert (there["virtual_s"], there["paused"], running.ticks) == (120.0, True, 11)
    stepped = [ctl(simunix, running, "step")["virtual_s"] for _ in range(3)]
    assert 120 < stepped[0] < 121 and stepped == sorted(set(stepped))  # the next sleep ends, another begins
    assert ctl(simunix, running, "pace", "50")["pace"] == 50
    assert ctl(simunix, running, "pace")["pace"] == 50
    assert ctl(simunix, running, "resume")["paused"] is False
    done = simunix("ctl", running.out, "until", "1s")
    assert done.returncode == 2
    assert done.stderr.startswith("simunix: until: it is 1") and done.stderr.endswith("name a later moment\n")
    said = running.end()
    paused = (
        f"simunix: paused at 60.000000 s of virtual time; to go on: simunix ctl {running.out} resume (or step, or until TIME)"
    )
    assert said.splitlines()[0] == paused
    record = json.loads((running.out / "run.json").read_text())
    assert (record["deterministic"], "the run was paused by hand" in record["disturbances"]) == (False, True)


def test_until_beyond_the_end_is_said(tmp_path: Path, simunix: Simunix) -> None:
    running = Running(tmp_path, "--pause-at", "20", "--until", "1min")
    done = simunix("ctl", running.out, "until", "2min")
    assert (done.returncode, done.stderr) == (2, f"simunix: {running.out}: the emulation ended before it answered\n")
    running.end()


def test_a_moment_of_a_run_without_a_folder_is_refused(simunix: Simunix) -> None:
    done = simunix("run", "--pause-at", "5", "--", "true")
    told = "simunix: --pause-at: needs --out DIR, the folder by which simunix ctl finds the run\n"
    assert (done.returncode, done.stderr) == (2, told)
    done = simunix("run", "--pause-at", "soon", "--out", "x", "--", "true")
    assert done.returncode == 2 and done.stderr.startswith("simunix: --pause-at: expected a duration")


@pytest.mark.slow
def test_a_pause_changes_no_event(tmp_path: Path, simunix: Simunix) -> None:
    running = Running(tmp_path, "--pause-at", "15", "--until", "1min")
    ctl(simunix, running, "step")
    ctl(simunix, running, "until", "35")
    ctl(simunix, running, "resume")
    running.process.communicate(timeout=LIMIT_S)
    again = tmp_path / "again"
    words = ("run", tmp_path / "s.yaml", "--epoch", "2020-01-01", "--until", "1min", "--out", again)
    assert simunix(*words).returncode == 0
    assert (running.out / "events.jsonl").read_bytes() == (again / "events.jsonl").read_bytes()
