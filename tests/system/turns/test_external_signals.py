"""Signals from outside the emulation reach processes that wait, in good time, and the run says that it cannot be repeated."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 20.0
SCRIPT = """
trap 'echo usr' USR1
trap 'echo term; kill $!; exit 7' TERM
echo ready
sleep 100000 &
wait
echo again
wait
"""


class Running:
    """`simunix run --pace 1 -- bash -c SCRIPT`, what it has printed so far, and the real pid of the shell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "output"
        command = [sys.executable, "-m", "simunix.cli.main", "run", "--out", str(folder / "run"), "--pace", "1"]
        with self.output.open("w") as output, (folder / "errors").open("w") as errors:
            self.simunix = subprocess.Popen(
                [*command, "--", "bash", "-c", SCRIPT + f"# {folder}"],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=folder,
                process_group=0,  # its parent is in another group: a group without such a parent ignores SIGTSTP
            )
        self.wait_for(lambda: "ready" in self.output.read_text())
        self.shell = next(pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._is_shell(pid))
        # What comes before the shell waits is delivered in its turn, and nobody sees from where. Its child has its turn then.
        self.wait_for(self._is_sleeping)
        time.sleep(0.3)

    def _is_shell(self, pid: int) -> bool:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        except OSError:
            return False
        return words[:2] == ["bash", "-c"] and words[2].endswith(f"# {self.folder}")

    def _is_sleeping(self) -> bool:
        """Whether the shell's child has become `sleep`."""
        children = Path(f"/proc/{self.shell}/task/{self.shell}/children").read_text().split()
        return any(Path(f"/proc/{child}/cmdline").read_bytes().startswith(b"sleep\0") for child in children)

    def state(self) -> str:
        return Path(f"/proc/{self.shell}/stat").read_text().rpartition(")")[2].split()[0]

    @staticmethod
    def wait_for(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < end, "it did not happen in time"
            time.sleep(0.02)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path)
    yield made
    made.simunix.kill()
    made.simunix.wait()


def test_a_waiting_process_hears_what_comes_from_outside(running: Running) -> None:
    os.kill(running.shell, signal.SIGUSR1)
    running.wait_for(lambda: running.output.read_text() == "ready\nusr\nagain\n")
    os.kill(running.shell, signal.SIGTERM)
    assert running.simunix.wait(LIMIT_S) == 7
    assert running.output.read_text() == "ready\nusr\nagain\nterm\n"
    assert "was sent SIGUSR1 from outside the emulation" in (running.folder / "errors").read_text()
    assert json.loads((running.folder / "run" / "run.json").read_text())["deterministic"] is False


@pytest.mark.parametrize("number", [32, 33, 34, 64])
def test_a_signal_without_a_name(running: Running, number: int) -> None:
    """32 and 33 are the C library's own, which have no name; all of these end a process that does not handle them."""
    os.kill(running.shell, number)
    errors = running.folder / "errors"
    running.wait_for(lambda: f"signal {number} from outside the emulation" in errors.read_text())
    running.simunix.terminate()
    assert running.simunix.wait(LIMIT_S) == 128 + signal.SIGTERM
    assert "Traceback" not in errors.read_text()
    record = json.loads((running.folder / "run" / "run.json").read_text())
    assert record["deterministic"] is False and any("signal" in reason for reason in record["disturbances"])


def test_a_process_stopped_from_outside_goes_on_when_it_is_continued(running: Running) -> None:
    os.kill(running.shell, signal.SIGSTOP)
    os.kill(running.shell, signal.SIGTERM)
    time.sleep(0.5)
    assert running.state() == "T" and "term" not in running.output.read_text()
    os.kill(running.shell, signal.SIGCONT)
    assert running.simunix.wait(LIMIT_S) == 7


def test_the_run_itself_can_be_stopped_and_continued(running: Running) -> None:
    """As by Ctrl-Z and fg."""
    running.simunix.send_signal(signal.SIGTSTP)
    os.kill(running.shell, signal.SIGTSTP)
    os.waitid(os.P_PID, running.simunix.pid, os.WSTOPPED)
    running.simunix.send_signal(signal.SIGCONT)
    os.kill(running.shell, signal.SIGCONT)
    os.kill(running.shell, signal.SIGTERM)
    assert running.simunix.wait(LIMIT_S) == 7
