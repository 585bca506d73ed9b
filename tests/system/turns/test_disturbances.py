"""`deterministic` is true only of a run that nothing from outside has touched, and run.json says what has."""

from __future__ import annotations

import array
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simunix.app.join import ask, connect
from tests.needs import needs

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 30.0
SCENARIO = """
name: steps
hosts: [{name: 'n[1-2]'}]
processes: [{name: steps, host: 'n[1-2]', command: 'for i in $(seq 3000000); do sleep 1; done # MARK'}]
"""


def command(folder: Path, *words: str) -> dict[str, Any]:
    """The record of a single command, run to its end."""
    line = [sys.executable, "-m", "simunix.cli.main", "run", "--out", str(folder / "run"), "--", *words]
    subprocess.run(line, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=folder, capture_output=True, timeout=LIMIT_S)
    record: dict[str, Any] = json.loads((folder / "run" / "run.json").read_text())
    return record


class Running:
    """A scenario that runs on until it is disturbed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "s.yaml").write_text(SCENARIO.replace("MARK", str(folder)))
        line = [sys.executable, "-m", "simunix.cli.main", "run", "s.yaml", "--out", "run"]
        self.simunix = subprocess.Popen(
            line,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.wait_for(lambda: len(self.shells()) == 2)

    @staticmethod
    def wait_for(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.02)

    def shells(self) -> list[int]:
        """The real numbers of the emulated shells."""
        return [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if self._is_shell(pid)]

    def _is_shell(self, pid: str) -> bool:
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
            return words[:2] == ["/bin/sh", "-c"] and words[2].endswith(f"# {self.folder}")
        return False

    def end(self) -> tuple[dict[str, Any], str]:
        """The record and the output, once the run has ended."""
        try:
            output, _ = self.simunix.communicate(timeout=LIMIT_S)
        finally:
            self.simunix.kill()
        return json.loads((self.folder / "run" / "run.json").read_text()), output


@pytest.mark.parametrize(
    "script",
    [
        "kill -9 $$",
        "kill -TERM $$",
        "(kill -9 $BASHPID); (kill -SEGV $BASHPID); true",
        "sleep 100 & kill -9 $!; wait; sleep 100 & kill $!; wait",
        "yes | head -1; timeout 5 sleep 100; timeout -s KILL 5 sleep 100; true",
        "python3 -c 'import os, signal; os.fork() or signal.raise_signal(15); os.wait(); os.fork() or os.abort(); os.wait()'",
    ],
)
def test_deaths_by_signals_from_inside_leave_a_run_deterministic(tmp_path: Path, script: str) -> None:
    record = command(tmp_path, "bash", "-c", script)
    assert (record["deterministic"], record["disturbances"]) == (True, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        signal.SIGTERM,
        *(pytest.param(each, marks=pytest.mark.slow) for each in (signal.SIGUSR1, signal.SIGABRT)),
    ],
)
def test_a_process_killed_from_outside(tmp_path: Path, number: signal.Signals) -> None:
    running = Running(tmp_path)
    for shell in running.shells():
        os.kill(shell, number)
    record, output = running.end()
    assert record["deterministic"] is False
    assert f"sh[2]@n1 was killed by {number.name} from outside" in str(record["disturbances"]) or "was sent a signal" in str(
        record["disturbances"]
    )
    assert "NOT repeatable to the byte" in output and "comes out the same" not in output


@needs("pkill")
@pytest.mark.parametrize("flags", ["", "SA_ONSTACK"])
def test_a_signal_from_outside_that_a_handler_takes_at_once(tmp_path: Path, flags: str) -> None:
    """A process that has the turn is not waiting: nobody finds the signal pending."""
    source = tmp_path / "taker.c"
    source.write_text(
        "#include <signal.h>\n#include <stdlib.h>\nstatic volatile sig_atomic_t taken;\n"
        "static void take(int number) { taken = number; }\n"
        f"int main(void) {{ struct sigaction action = {{.sa_handler = take, .sa_flags = {flags or 0}}};\n"
        "sigaction(SIGUSR1, &action, NULL); raise(SIGUSR1); if (taken != SIGUSR1) abort();\n"
        "action.sa_handler = SIG_IGN; sigaction(SIGUSR1, NULL, &action); if (action.sa_handler != take) abort();\n"
        "for (taken = 0; taken == 0;) ; return 7; }\n"
    )
    subprocess.run(["gcc", str(source), "-D_GNU_SOURCE", "-o", str(tmp_path / "taker")], check=True)
    line = [sys.executable, "-m", "simunix.cli.main", "run", "--out", str(tmp_path / "run"), "--", str(tmp_path / "taker")]
    running = subprocess.Popen(line, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL)
    end = time.monotonic() + LIMIT_S
    while running.poll() is None and time.monotonic() < end:
        subprocess.run(["pkill", "-USR1", "-x", "-f", str(tmp_path / "taker")])
        time.sleep(0.5)
    assert running.wait(LIMIT_S) == 7
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["deterministic"] is False
    assert "processes have taken signals from outside the emulation: SIGUSR1" in record["disturbances"]


def command_line(pid: str) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def begin(folder: Path, name: str) -> tuple[subprocess.Popen[bytes], int]:
    """A run of a program that has said that it has begun, and the program's real number."""
    program = [sys.executable, str(folder / name)]
    line = [sys.executable, "-m", "simunix.cli.main", "run", "--out", "run", "--", *program]
    simunix = subprocess.Popen(
        line, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert simunix.stdout is not None and simunix.stdout.readline()
    words = "\0".join([*program, ""]).encode()
    (target,) = [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if command_line(pid) == words]
    return simunix, target


TAKERS = {
    "sigtimedwait": "while not (got := signal.sigtimedwait({signal.SIGUSR1}, 0)): pass",
    "signalfd": "import ctypes\n"
    "fd = ctypes.CDLL(None).signalfd(-1, (ctypes.c_ulong * 16)(1 << signal.SIGUSR1 - 1), os.O_NONBLOCK)\n"
    "while True:\n try: os.read(fd, 256); break\n except BlockingIOError: pass",
}


@pytest.mark.parametrize("how", TAKERS)
def test_a_signal_from_outside_that_is_taken_from_the_queue(tmp_path: Path, how: str) -> None:
    (tmp_path / "takes.py").write_text(
        "import os, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})\nprint('begun', flush=True)\n"
        f"{TAKERS[how]}\nprint('taken', flush=True)\n"
    )
    simunix, target = begin(tmp_path, "takes.py")
    os.kill(target, signal.SIGUSR1)
    assert simunix.communicate(timeout=LIMIT_S)[0] == b"taken\n"
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["deterministic"] is False
    assert "SIGUSR1" in str(record["disturbances"])


def test_handlers_of_alarms_and_signals_from_inside_leave_a_run_deterministic(tmp_path: Path) -> None:
    script = "import signal, os; signal.signal(14, print); signal.setitimer(0, 1); signal.pause(); os.kill(1, 0)"
    record = command(tmp_path, "sh", "-c", f"trap 'echo term' TERM; python3 -c '{script}'; kill -TERM $$; timeout 1 sleep 5")
    assert (record["deterministic"], record["disturbances"]) == (True, [])


COMPUTES = """
import os, signal
signal.signal(signal.SIGBUS, lambda *_: os._exit(0))
print(open("/proc/self/stat").read().split()[0], flush=True)
while True:
    pass
"""


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP])
def test_the_signal_of_a_fault_sent_from_outside_to_the_holder_of_the_turn(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "computes.py").write_text(COMPUTES + f"# {tmp_path}")
    simunix, target = begin(tmp_path, "computes.py")
    os.kill(target, number)
    simunix.communicate(timeout=LIMIT_S)
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert f"processes have taken signals from outside the emulation: {number.name}" in record["disturbances"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requests", "reason"),
    [
        (({"op": "pause"}, {"op": "resume"}), "the run was paused by hand"),
        (
            ({"op": "change", "changes": [{"kind": "HostChange", "host": "n2", "state": "off"}]},),
            "hosts or links were changed by hand",
        ),
        ((), "the run was ended by hand"),
    ],
)
def test_what_is_done_by_hand(tmp_path: Path, requests: tuple[dict[str, object], ...], reason: str) -> None:
    running = Running(tmp_path)
    for request in (*requests, {"op": "stop"}):
        ask(tmp_path / "run", request)
    record, output = running.end()
    assert record["deterministic"] is False and reason in record["disturbances"]
    assert "comes out the same" not in output


MALFORMED = (
    b"[" * 200_000,
    b"[]",
    b"\xff",
    b'{"op": "dance"}',
    b'{"op": "pace", "pace": "x"}',
    b'{"op": "pace", "pace": NaN}',
    b'{"op": "pace", "pace": 1e300}',
    b'{"op": "change", "changes": [5]}',
    b'{"op": "change", "changes": [{"kind": "HostChange", "host": "n1", "state": "asleep"}]}',
    b'{"op": "change", "changes": [{"kind": "LinkChange", "link": "n1", "bandwidth_bytes_per_s": "x"}]}',
    b'{"op": "ps", "host": []}',
    b'{"op": "run", "host": "n1", "argv": [], "environment": {}, "directory": "/"}',
    b'{"op": "run", "host": "n1", "argv": ["/bin/true", "\\ud800"], "environment": {}, "directory": "/"}',
    b'{"op": "run", "host": "n1", "argv": ["/bin/true"], "environment": {"A": 5}, "directory": "/"}',
    b"x" * 300_000,
)


def test_malformed_requests_are_refused_and_the_run_goes_on(tmp_path: Path) -> None:
    running = Running(tmp_path)
    for message in MALFORMED:
        with connect(tmp_path / "run") as control:
            control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
            control.sendmsg([message], rights if b'"run"' in message else [])
            answer = json.loads(control.recv(1 << 18))
        assert answer["error"].isprintable() and len(answer["error"]) < 300, message[:100]
    ask(tmp_path / "run", {"op": "stop"})
    record, output = running.end()
    assert record["disturbances"] == ["the run was ended by hand"] and "Traceback" not in output


def test_a_timer_of_cpu_time(tmp_path: Path) -> None:
    record = command(tmp_path, "python3", "-c", "import signal; signal.setitimer(signal.ITIMER_PROF, 100)")
    assert record["deterministic"] is False
    assert "a timer of CPU time is set" in record["disturbances"][0]


@pytest.mark.slow
def test_a_limit_of_cpu_time(tmp_path: Path) -> None:
    record = command(tmp_path, "bash", "-c", "ulimit -St 1; python3 -c 'while True: pass'")
    assert record["deterministic"] is False
    assert "SIGXCPU: its CPU time counts (RLIMIT_CPU)" in str(record["disturbances"])


def test_a_server_outside(tmp_path: Path) -> None:
    path = tmp_path / "outside.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        program = f"import socket; socket.socket(socket.AF_UNIX).connect({str(path)!r})"
        record = command(tmp_path, "python3", "-c", program)
    assert record["deterministic"] is False
    assert f"talks to a program outside of the emulation, at {path}" in record["disturbances"][0]


def test_a_server_inside(tmp_path: Path) -> None:
    program = "import socket as s; a = s.socket(s.AF_UNIX); a.bind('x'); a.listen(); s.socket(s.AF_UNIX).connect('x')"
    assert command(tmp_path, "python3", "-c", program)["deterministic"] is True
