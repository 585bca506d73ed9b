"""A child keeps two of the shim's own descriptors, its channel and the shared page's file, and none of its creator's."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.needs import needs
from tests.starts import start
from tests.system.tools.test_run_command import wait_for

MARK = f"8{os.getpid()}"
BIRTHS = {
    "fork": "os.fork() or time.sleep({mark})",
    "vfork and exec": "subprocess.Popen(['sleep', '{mark}'])",
    "posix_spawn": "os.posix_spawn('/bin/sleep', ['sleep', '{mark}'], os.environ)",
}
PROGRAM = """
import os, select, subprocess, threading, time
ends = [os.pipe() for _ in range(9)]
for reader, _ in ends:
    threading.Thread(target=select.select, args=([reader], [], []), daemon=True).start()
time.sleep(1)
{birth}
os.write(1, b'born')
time.sleep({mark})
"""
FLOOR = 1024


def own_descriptors(pid: int) -> int:
    """How many descriptors at and above the floor a process has."""
    return sum(int(name) >= FLOOR for name in os.listdir(f"/proc/{pid}/fd"))


def pids_of(word: str) -> list[int]:
    """The emulated processes that have the word in their command line."""
    found = subprocess.run(["pgrep", "-f", word], capture_output=True, text=True, check=False).stdout.split()
    return [int(pid) for pid in found if b"simunix" not in Path(f"/proc/{pid}/cmdline").read_bytes()]


@needs("pgrep")
@pytest.mark.parametrize("way", BIRTHS)
def test_a_child_closes_what_its_creators_threads_have(tmp_path: Path, way: str) -> None:
    mark = f"{MARK}{list(BIRTHS).index(way)}"
    program = PROGRAM.format(birth=BIRTHS[way].format(mark=mark), mark=mark)
    command = ("run", "--out", tmp_path / "out", "--pace", "1", "--", "python3", "-c", program)
    with start(*command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, process_group=0) as running:
        try:
            assert running.stdout is not None and running.stdout.read(4) == "born"
            wait_for(lambda: len(pids_of(mark)) == 2)
            creator, child = sorted(pids_of(mark), key=own_descriptors, reverse=True)
            assert own_descriptors(creator) > 2 + 9, "a channel for each thread, and more"
            assert own_descriptors(child) == 2
        finally:
            running.send_signal(signal.SIGINT)
        assert running.wait(20) == 130
    assert not pids_of(mark)
