"""Processes that events kill, stop, continue and start again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import run_twice

PROGRAM = """\
import signal, time
signal.signal(signal.SIGCONT, lambda *_: print(round(time.monotonic() - start, 1), "goes on", flush=True))
start = time.monotonic()
print("starts", flush=True)
for _ in range(10):
    time.sleep(1)
    print(round(time.monotonic() - start, 1), flush=True)
"""
SCENARIO = """\
hosts: [{name: a}, {name: b}]
processes:
  - {name: p, host: 'a,b', command: [PYTHON, PROGRAM]}
  - {name: killed, host: a, command: [sleep, '100'], expect: SIGKILL}
  - {name: again, host: a, command: 'sh -c "echo starts; sleep 2"', restart: on-failure, restart_delay: 4s}
"""
EVENTS = """\
events:
  - {at: 2.5s, process: 'a:p', state: stopped, duration: 3s}
  - {at: 3.5s, process: 'b:p', state: killed, duration: 2s}
  - {at: 9s, process: 'b:p', state: stopped}
  - {at: 10s, process: 'b:p', state: running}
  - {at: 1s, process: 'a:killed', state: killed}
  - {at: 1s, process: 'a:again', state: killed}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.replace("PYTHON", sys.executable).replace("PROGRAM", str(tmp_path / "program.py")) + EVENTS)
    return path


def test_what_events_do_to_processes(simunix: Simunix, scenario: Path, tmp_path: Path) -> None:
    run, _ = run_twice(simunix, scenario, tmp_path)
    stopped, killed, again = (run.output(host, name).splitlines() for host, name in (("a", "p"), ("b", "p"), ("a", "again")))
    assert stopped[:5] == ["starts", "1.0", "2.0", "5.5 goes on", "5.5"] and stopped[-1] == "12.5"
    assert killed[:4] == ["starts", "1.0", "2.0", "3.0"]
    assert killed[4:9] == ["starts", "1.0", "2.0", "3.0", "4.5 goes on"] and len(killed) == 16
    assert again == ["starts", "starts"]
    lines = [json.loads(line) for line in run.events]
    told = [(line["host"], line["process"], line["state"]) for line in lines if line["event"] == "process"]
    assert told[:2] == [("a", "killed", "killed"), ("a", "again", "killed")]
    assert told[2:5] == [("a", "p", "stopped"), ("b", "p", "killed"), ("a", "p", "running")]
    assert [line["signal"] for line in lines if line["event"] == "signal_injected"] == [9, 9, 19, 9, 18, 19, 18]
    assert 15 < run.record["virtual_s"] < 18  # no process was waited for that events have killed


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (
            "process: 'a:other', state: killed",
            "events[6].process: host a has no process 'other'; known there: p, killed, again",
        ),
        ("process: 'c:p', state: killed", "events[6]: host 'c': no such host"),
        ("process: p, state: killed", "expected HOSTS:PROCESS such as 'node[1-3]:server', got 'p'"),
        ("process: 'a:p', state: off", "state: a process is killed, stopped or running, got 'off'"),
        (
            "process: 'a:p', state: running, duration: 1s",
            "duration: an event that mends, continues or hangs something cannot be taken back; leave duration out",
        ),
        ("process: 'a:p'", "expected what happens to the process: state"),
    ],
)
def test_a_wrong_event_is_refused(simunix: Simunix, scenario: Path, tmp_path: Path, event: str, says: str) -> None:
    scenario.write_text(f"{scenario.read_text()}  - {{at: 5s, {event}}}\n")
    done = simunix("run", str(scenario), cwd=tmp_path)
    assert done.returncode == 2 and says in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_a_process_that_is_killed_for_good_fails_the_run(simunix: Simunix, scenario: Path, tmp_path: Path) -> None:
    scenario.write_text(scenario.read_text().replace("'a:killed'", "'a:p'"))
    done = simunix("run", str(scenario), "--out", "out", cwd=tmp_path)
    assert done.returncode == 1 and "a: p ended with signal 9 (SIGKILL)" in done.stderr
