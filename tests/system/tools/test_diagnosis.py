"""Reports about an emulation that cannot go on, and about a running one: deadlock and stall reports, `simunix ps`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.app.join import connect
from tests.conftest import Simunix
from tests.starts import start

SERVER = """
import os, socket, threading
listener = socket.create_server(("0.0.0.0", 7000))
peer, _ = listener.accept()
lock = threading.Lock()
lock.acquire()
threading.Thread(target=lock.acquire).start()
reading, writing = os.pipe()
if os.fork() == 0:
    os.close(writing)
    os.read(reading, 1)
threading.Thread(target=os.wait).start()
peer.recv(1)
"""
CLIENT = """
import os, select, socket
peer = socket.create_connection(("a2", 7000))
ours, theirs = socket.socketpair()
event = os.eventfd(0)
if os.fork() == 0:
    select.select([event, ours], [], [])
os.close(event)
peer.recv(1)
"""
COMPUTE = """
import threading
def compute():
    print("computing", flush=True)
    while True: pass
threading.Thread(target=compute).start()
threading.Event().wait()
"""


def write_scenario(folder: Path, processes: dict[str, str]) -> Path:
    """Two hosts; `processes` maps a host to the Python program that it runs."""
    lines = ["name: toy", "hosts:", "  - {name: 'a[1-2]'}", "network: {bandwidth: 1MBps, latency: 10ms}", "processes:"]
    for host, text in processes.items():
        (folder / f"{host}.py").write_text(text)
        start = 1 if host == "a1" else 0
        lines.append(f"  - {{name: {host}, host: {host}, start: {start}s, command: [/usr/bin/python3, {folder}/{host}.py]}}")
    (folder / "toy.yaml").write_text("\n".join(lines) + "\n")
    return folder / "toy.yaml"


@contextmanager
def running(folder: Path, *arguments: object) -> Iterator[Path]:
    """An emulation in the background; yields its run directory once it can be asked, ends it afterwards."""
    out = folder / "run"
    with start("run", "--out", out, *arguments, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1) as process:
        try:
            end = time.monotonic() + 15
            while not (out / "control.sock").exists():
                assert time.monotonic() < end
                assert process.poll() is None, process.communicate()
                time.sleep(0.02)
            yield out
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


@pytest.fixture(scope="module")
def deadlock(simunix: Simunix, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The report of two programs on two hosts that wait for each other in every way, a line per actor."""
    folder = tmp_path_factory.mktemp("deadlock")
    done = simunix("run", write_scenario(folder, {"a2": SERVER, "a1": CLIENT}), "--out", folder / "out")
    assert done.returncode == 3
    lines = done.stderr.splitlines()
    at = next(number for number, line in enumerate(lines) if "nobody can run and nothing is due" in line)
    assert lines[at].startswith("simunix: virtual time stopped at 1.0")
    return [line for line in lines[at + 1 :] if line.startswith("  ")]


@pytest.mark.parametrize(
    ("begins", "words"),
    [
        (
            "  a2: python3[2] (python3 ",
            ["thread 2 in recvfrom", "TCP 10.0.0.2:7000 to 10.0.0.1:32768, held by python3["],
        ),
        (
            "  a1: python3[2] (python3 ",
            ["thread 2 in recvfrom", "TCP 10.0.0.1:32768 to 10.0.0.2:7000", "python3[2]@a2"],
        ),
        ("  a2: python3[2] ", ["in futex waits for futex 0x", "value 0", "since 1.0"]),
        ("  a2: python3[2] ", ["in wait4 waits for a child: python3[4]@a2 since 1.0"]),
        ("  a2: python3[4] ", ["in read waits for descriptor 5 (pipe, written by python3[2]@a2 (fd 6)) since 1.0"]),
        (
            "  a1: python3[3] ",
            ["select", "descriptors 4 (UNIX socket pair made by python3[2]@a1), 6 (eventfd, count 0) since"],
        ),
    ],
    ids=["tcp-server", "tcp-client", "futex", "child", "pipe", "select"],
)
def test_deadlock_shows_the_other_end(deadlock: list[str], begins: str, words: list[str]) -> None:
    assert len(deadlock) == 6
    found = [line for line in deadlock if line.startswith(begins) and all(word in line for word in words)]
    assert len(found) == 1, "\n".join(deadlock)


def test_ps_as_table_and_as_json(simunix: Simunix, tmp_path: Path) -> None:
    script = "import os, threading, time; threading.Thread(target=time.sleep, args=(9e4,)).start(); os.read(os.pipe()[0], 1)"
    with running(tmp_path, "--pace", "1", "--", sys.executable, "-c", script) as out:
        deadline = time.monotonic() + 10
        while '"read"' not in simunix("ps", out, "--json").stdout:
            assert time.monotonic() < deadline
        [process] = json.loads(simunix("ps", out, "--json").stdout)["processes"]
        assert process["command"].endswith(script)
        assert Path(f"/proc/{process['native_pid']}").exists()
        main, other = process["threads"]
        assert (main["call"], main["waits_for"], main["until_s"]) == (
            "read",
            f"descriptor 3 (pipe, written by {process['program']}[2]@{process['host']} (fd 4))",
            None,
        )
        assert (other["call"], other["waits_for"], other["state"]) == ("clock_nanosleep", "the clock", "parked")
        head, *rows = simunix("ps", out).stdout.splitlines()
        assert head.split() == ["HOST", "PID", "COMMAND", "THREADS", "STATE", "CALL", "SINCE", "WAITS", "FOR"]
        assert len(rows) == 1
        head, *rows = simunix("ps", out, "--threads").stdout.splitlines()
        assert [row.split()[:3] for row in rows] == [[process["host"], "2", "2"], [process["host"], "2", "3"]]
        done = simunix("ps", out, "--host", "nowhere")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "--host nowhere: no such host; known: " in done.stderr


def test_ps_of_nothing_is_said(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("ps", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no emulation is running here" in done.stderr


def test_a_folder_that_is_not_there_leaves_no_socket_open(tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(SimunixError, match="No such file or directory; give the run directory") as raised:
        connect(tmp_path / "nowhere")
    assert set(os.listdir("/proc/self/fd")) == before, raised.value  # which keeps what `connect` made in its traceback


@pytest.mark.slow
def test_stall_shows_the_computing_thread(simunix: Simunix, tmp_path: Path) -> None:
    with running(tmp_path, write_scenario(tmp_path, {"a1": COMPUTE}), "--set", "preempt_after=0") as out:
        end = time.monotonic() + 60
        while not any(path.stat().st_size for path in out.glob("hosts/a1/*.out")):
            assert time.monotonic() < end, "it has not begun"
            time.sleep(0.1)
        time.sleep(12)
    text = (tmp_path / "run" / "run.json").read_text()
    assert "the turn has not come back for 1" in text
    assert "thread 3" in text
    assert "call: none: it computes" in text
