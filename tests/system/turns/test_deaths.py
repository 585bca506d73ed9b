"""Processes that are killed in the middle of a run: told in a line, results kept, and nothing of them left."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix, processes_named

HOSTS = "name: deaths\nhosts: [{name: 'a[1-2]'}]\n"
PROGRAMS = Path(__file__).parents[1] / "programs"
RUN = [sys.executable, "-m", "simunix.cli.main", "run"]
WAYS = [("KILL", 9), ("SEGV", 11)]
DAY = f"86400.{os.getpid()}"
"""A day, written so that no other test's processes that run at the same time have it in their command lines."""


def scenario(tmp_path: Path, victim: str) -> Path:
    """A victim that `victim` says how to end on a1, a survivor on a2 that goes on for a day."""
    path = tmp_path / "deaths.yaml"
    path.write_text(
        f"{HOSTS}processes:\n"
        f"  - {{name: victim, host: a1, {victim}}}\n"
        f"  - {{name: survivor, host: a2, command: [bash, -c, 'sleep {DAY}; echo survived']}}\n"
    )
    return path


def exits(out: Path) -> list[tuple[str, int]]:
    events = map(json.loads, (out / "events.jsonl").read_text().splitlines())
    return [(event["host"], event["status"]) for event in events if event["event"] == "process_exit"]


@pytest.mark.parametrize(("name", "number"), WAYS)
def test_the_others_go_on_when_one_is_killed(simunix: Simunix, tmp_path: Path, name: str, number: int) -> None:
    command = f"expect: SIG{name}, command: [bash, -c, 'sleep 100; echo dying; kill -{name} $$']"
    done = simunix("run", scenario(tmp_path, command), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert ("a1", number) in exits(tmp_path / "out")
    hosts = tmp_path / "out" / "hosts"
    assert (hosts / "a1" / "victim.out").read_text() == "dying\n"
    assert (hosts / "a2" / "survivor.out").read_text() == "survived\n"
    assert json.loads((tmp_path / "out" / "run.json").read_text())["ended"] == "done"
    assert not processes_named(str(tmp_path))


@pytest.mark.parametrize(("name", "number"), WAYS)
def test_the_run_ends_with_one_line_when_an_essential_one_is_killed(
    simunix: Simunix, tmp_path: Path, name: str, number: int
) -> None:
    command = f"essential: true, command: [bash, -c, 'sleep 100; kill -{name} $$']"
    done = simunix("run", scenario(tmp_path, command), "--out", tmp_path / "out")
    assert done.returncode == 1, done.stderr
    assert f"a1: victim ended with signal {number} ({signal.Signals(number).name}) at 100.0" in done.stderr
    assert "victim.err" in done.stderr
    assert "Traceback" not in done.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["ended"] == "failed" and f"signal {number}" in record["failure"]
    assert ("a1", number) in exits(tmp_path / "out")
    assert not processes_named(f"sleep {DAY}")


def find_process(text: str) -> int:
    """The pid of the living process of this command line; waits for it to be born."""
    for _ in range(200):
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
                if words and words[0] == b"sleep" and text.encode() in words:
                    return int(entry.name)
        time.sleep(0.05)
    raise AssertionError(f"no process: sleep {text}")


@pytest.mark.slow
def test_a_process_killed_from_outside(tmp_path: Path) -> None:
    """By the computer's own administrator, or for lack of memory; the pace keeps the run going for long enough."""
    mark = f"5{os.getpid()}.9"
    command = f"command: [bash, -c, 'sleep {mark}; echo $?']"
    with subprocess.Popen(
        [*RUN, scenario(tmp_path, command), "--out", tmp_path / "out", "--pace", "8640"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        try:
            os.kill(find_process(mark), signal.SIGKILL)
            _, errors = process.communicate(timeout=60)
        finally:
            process.terminate()
    assert process.returncode == 0, errors
    assert (tmp_path / "out" / "hosts" / "a1" / "victim.out").read_text() == "137\n"
    assert (tmp_path / "out" / "hosts" / "a2" / "survivor.out").read_text() == "survived\n"


def child_of(pid: int, text: str) -> int:
    """The pid of a child with `text` in its command line; waits for it to be born."""
    for _ in range(200):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if text.encode() in Path("/proc", child, "cmdline").read_bytes():
                return int(child)
        time.sleep(0.05)
    raise AssertionError(f"{pid} has no child: {text}")


@pytest.mark.slow
@pytest.mark.parametrize("which", ["relay", "fork server"])
def test_a_run_whose_factory_of_hosts_is_killed(tmp_path: Path, which: str) -> None:
    """All hosts are lost: the run ends at once, with one line about it, and nothing is left."""
    mark = f"6{os.getpid()}.9"
    with subprocess.Popen(
        [*RUN, scenario(tmp_path, f"command: [sleep, '{mark}']"), "--out", tmp_path / "out", "--pace", "1"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        try:
            find_process(mark)
            relay = child_of(process.pid, "simunix-hostinit")
            os.kill(relay if which == "relay" else child_of(relay, "simunix-hostinit"), signal.SIGKILL)
            _, errors = process.communicate(timeout=60)
        finally:
            process.terminate()
    assert process.returncode in (1, 2), errors  # 1 if a2 was still to be started
    line = errors.splitlines()[-1]
    assert line.startswith("simunix: ") and "the factory of hosts has died" in line and "Traceback" not in errors
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["ended"] == "failed" and f"simunix: {record['failure']}" == line
    assert not processes_named(f"sleep {mark}")


STORMS = {
    "signals": "import os,signal\nsignal.signal(10, lambda *a: None)\nfor _ in range(20000): os.kill(os.getpid(), 10)\n",
    "real-time signals": (
        "import os,signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [40])\nchild = os.fork()\n"
        "if not child:\n    signal.pause()\n"
        "n = 0\n"
        "while n < 20000:\n    os.kill(child, 40)\n    n += 1\n"
        "os.kill(child, 9); os.wait()\n"
    ),
    "sockets": (
        "import socket\nheld = []\n"
        "try:\n    while True: held.append(socket.socket())\n"
        "except OSError as error: assert error.errno == 24, error\n"
    ),
    "children": (
        "import os\nchildren = []\n"
        "for _ in range(300):\n    child = os.fork()\n    if not child: os._exit(0)\n    children.append(child)\n"
        "for child in children: os.waitpid(child, 0)\n"
    ),
    "threads": (
        "import threading\nwait = threading.Barrier(201)\n"
        "for _ in range(200): threading.Thread(target=wait.wait).start()\n"
        "wait.wait()\n"
    ),
    "timers": "import select,time\nfor _ in range(3000): e = select.epoll(); e.close(); time.sleep(1)\n",
}


@pytest.mark.parametrize("storm", STORMS)
def test_storms(simunix: Simunix, storm: str) -> None:
    done = simunix("run", "--", sys.executable, "-c", STORMS[storm] + "print('calm')")
    assert (done.stdout, done.returncode) == ("calm\n", 0), done.stderr


def test_the_default_of_every_deadly_signal_is_the_exit_code(simunix: Simunix) -> None:
    for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
        done = simunix("run", "--", "bash", "-c", f"sleep 10; kill -{int(number)} $$")
        assert (done.returncode, "Traceback" in done.stderr) == (128 + number, False), done.stderr


def test_nobody_meets_a_zombie_that_is_not_an_emulated_processs_to_reap(simunix: Simunix, tmp_path: Path) -> None:
    """How soon the host's init gets to it is the computer's affair, not the emulation's."""
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", tmp_path / "zombies", PROGRAMS / "zombies.c"], check=True)
    done = simunix("run", "--out", tmp_path / "out", "--", tmp_path / "zombies")
    assert (done.returncode, done.stdout) == (0, "0 left\n"), done.stderr


GROUPS = """
import os, signal, time
def members(kills):
    ready, tell = os.pipe()
    if (pid := os.fork()) != 0:
        return pid
    os.setpgid(0, 0)
    for number in range(8):
        if os.fork() == 0:
            if number % 2 and os.fork():  # half of them are orphans, which the host's init reaps
                os._exit(0)
            os.write(tell, b"x")
            time.sleep(1000)
    for number in range(8):
        os.read(ready, 1)
    if kills:
        os.kill(0, signal.SIGKILL)
    time.sleep(1000)
for kills in (False, True, False, True):
    group = members(kills)
    time.sleep(1)
    if not kills:
        os.killpg(group, signal.SIGKILL)
    print(os.waitpid(group, 0)[1], time.monotonic(), flush=True)
"""


@pytest.mark.slow
def test_the_members_of_a_group_die_in_one_order(fresh_simunix: Simunix, tmp_path: Path) -> None:
    """Killed from outside the group, or by a member; who was in the group, /proc no longer tells once they are dead."""
    digests = set()
    for name in ("x", "y", "z"):
        command = ("--", "python3", "-c", GROUPS)
        done = fresh_simunix("run", "--epoch", "2001-01-01", "--log-turns", "--out", tmp_path / name, *command)
        assert (done.returncode, done.stderr) == (0, "") and [line[0] for line in done.stdout.splitlines()] == ["9"] * 4
        record = json.loads((tmp_path / name / "run.json").read_text())
        assert record["deterministic"] is True
        digests.add(record["events_sha256"])
    assert len(digests) == 1
