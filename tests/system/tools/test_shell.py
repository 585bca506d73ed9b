"""`simunix shell`: a user at a terminal has a terminal of the host, and gets the own one back whatever happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from simunix.app.join import NotRunningError, ask
from tests.conftest import Simunix
from tests.system.user import LIMIT_S, ROOT, User

PROMPT = "root@head:~# "
CLUSTER = """
name: lecture
hosts: [{name: head}, {name: n1}]
processes: [{name: tick, host: n1, command: 'while :; do sleep 1; done'}]
"""


class Emulation:
    """A running emulation at twenty times the pace of the clock on the wall."""

    def __init__(self, folder: Path) -> None:
        self.out = folder / "out"
        (folder / "s.yaml").write_text(CLUSTER)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "simunix.cli.main", "run", str(folder / "s.yaml"), "--pace", "20", "--out", str(self.out)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        end = time.monotonic() + LIMIT_S
        while not self._is_up():
            assert time.monotonic() < end
            time.sleep(0.05)

    def _is_up(self) -> bool:
        try:
            return bool(ask(self.out, {"op": "status"})["processes"])
        except NotRunningError:
            return False

    def shell(self, *words: object, host: str = "head") -> User:
        """A user who opens a shell."""
        return User("shell", self.out, "--host", host, *words)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=LIMIT_S)


@pytest.fixture(scope="module")
def emulation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulation]:
    running = Emulation(tmp_path_factory.mktemp("shell"))
    yield running
    running.end()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Emulation]:
    """An emulation that a test may do harm to."""
    running = Emulation(tmp_path)
    yield running
    running.end()


def test_a_shell_has_a_terminal_of_the_host_and_roots_home(emulation: Emulation) -> None:
    with emulation.shell() as user:
        user.sees(PROMPT)
        assert user.says("tty").split()[0].startswith("/dev/pts/")
        assert user.says("pwd; stty size; id -u; hostname").split()[:5] == ["/root", "30", "100", "0", "head"]
        assert user.says("(echo reached >/dev/tty) && test -t 0 && echo whole").split()[:2] == ["reached", "whole"]
        user.type("exit 3\r")
        assert user.ends() == 3
        assert user.is_as_before()


@pytest.mark.slow
def test_the_end_of_input_ends_the_shell_with_the_status_of_the_last_command(emulation: Emulation) -> None:
    with emulation.shell() as user:
        user.sees(PROMPT)
        user.says("(exit 7)")
        user.type("\x04")
        assert user.ends() == 7


@pytest.mark.parametrize("job", ["sleep 100000", pytest.param("while :; do :; done", marks=pytest.mark.slow)])
def test_an_interrupt_goes_to_the_job_in_the_foreground(emulation: Emulation, job: str) -> None:
    with emulation.shell() as user:
        user.sees(PROMPT)
        user.type(f"{job}\r")
        user.sees(job)
        user.sees("\n")
        time.sleep(0.2)
        user.type("\x03")
        user.sees(PROMPT)
        assert user.says("echo status $?").split()[:2] == ["status", "130"]
        user.type("exit\r")
        assert user.ends() == 0


def test_jobs_are_stopped_and_go_on(emulation: Emulation) -> None:
    with emulation.shell() as user:
        user.sees(PROMPT)
        user.type("sleep 100000\r")
        user.sees("sleep 100000\r\n")
        time.sleep(0.2)
        user.type("\x1a")
        user.sees("Stopped")
        user.sees(PROMPT)
        user.says("bg")
        assert "Running" in user.says("jobs")
        user.type("fg\r")
        user.sees("sleep 100000\r\n")
        time.sleep(0.2)
        user.type("\x03")
        user.sees(PROMPT)
        assert user.says("jobs; echo none").strip().startswith("none")
        assert "Done" in user.says("sleep 1 & wait")


def test_the_size_of_the_window_is_passed_on(emulation: Emulation) -> None:
    with emulation.shell() as user:
        user.sees(PROMPT)
        user.type("sh -c 'trap \"stty size\" WINCH; while :; do sleep 0.1; done'\r")
        user.sees("done'\r\n")
        time.sleep(0.2)
        user.resize(41, 123)
        user.sees("41 123")
        user.type("\x03")
        user.sees(PROMPT)


@pytest.mark.slow
def test_a_full_screen_program(emulation: Emulation) -> None:
    with emulation.shell() as user:
        user.sees(PROMPT)
        user.type("watch -n 1 date +%s\r")
        first = user.sees("Every 1.0s: date")
        assert "\x1b[?1049h" in first
        user.resize(20, 60)
        user.sees("\x1b[20;60H")  # the corner of the new size
        user.type("\x03")
        user.sees("\x1b[?1049l")
        user.sees(PROMPT)


@pytest.mark.slow
def test_a_command_instead_of_the_shell(emulation: Emulation) -> None:
    with emulation.shell("--", "sh", "-c", "tty; exit 5") as user:
        user.sees("/dev/pts/")
        assert user.ends() == 5
    with emulation.shell("--", "no-such-program") as user:
        user.sees("simunix: host head: cannot run no-such-program: No such file or directory")
        assert user.ends() == 2
    with emulation.shell("-T", "--", "sh", "-c", "exit 4") as user:
        assert user.ends() == 4


@pytest.mark.slow
def test_without_a_terminal_the_shell_has_the_callers_own_streams(emulation: Emulation) -> None:
    script = "tty; echo $((6 * 7)); hostname; exit 9"
    shell = [sys.executable, "-m", "simunix.cli.main", "shell", str(emulation.out), "--host", "head"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SHELL": "/bin/sh"}
    done = subprocess.run(shell, input=script, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("not a tty\n42\nhead\n", "", 9)
    done = subprocess.run([*shell, "-t"], input=script + "\n", env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    assert "/dev/pts/" in done.stdout and "not a tty" not in done.stdout
    assert done.returncode == 9


@pytest.mark.slow
def test_a_user_leaves_a_shell_that_does_not_answer(emulation: Emulation) -> None:
    with emulation.shell() as user:
        user.sees(PROMPT)
        assert user.says("echo ~.").split()[0] == "~."  # not at the start of a line
        user.type("trap '' INT HUP; sleep 100000\r")
        user.sees("\n")
        time.sleep(0.2)
        user.type("\x03\r~.")
        assert user.ends() == 0
        user.sees("simunix: left the shell on head")
        assert user.is_as_before()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_restores_the_terminal(emulation: Emulation, number: signal.Signals) -> None:
    with emulation.shell() as user:
        user.sees(PROMPT)
        user.type("less /etc/passwd\r")
        user.sees("\x1b[?1049h")
        user.process.send_signal(number)
        assert user.ends() == 128 + number
        user.sees("\x1b[?1049l")
        assert user.is_as_before() and "Traceback" not in user.screen


def test_a_server_that_is_gone_is_said_and_the_terminal_restored(own: Emulation) -> None:
    with own.shell() as user:
        user.sees(PROMPT)
        own.process.kill()
        assert user.ends() == 2
        user.sees("simunix: ")
        assert user.sees("\n").strip() == f"{own.out}: the emulation has ended, and the session on head with it"
        assert user.is_as_before()


@pytest.mark.slow
def test_a_host_that_is_switched_off_takes_its_sessions_along(own: Emulation, simunix: Simunix) -> None:
    with own.shell() as user:
        user.sees(PROMPT)
        assert simunix("ctl", own.out, "host", "head", "off").returncode == 0
        assert user.ends() == 2
        user.sees("simunix: host head was switched off, and the session with it")
        assert user.is_as_before()
    with own.shell() as user:
        user.sees("simunix: host head: switched off; switch it on before a program is started there")
        assert user.ends() == 2


@pytest.mark.slow
def test_a_session_is_told_in_what_made_the_run_not_repeatable(own: Emulation) -> None:
    with own.shell() as user:
        user.sees(PROMPT)
        user.type("exit\r")
        assert user.ends() == 0
    own.end()
    record = json.loads((own.out / "run.json").read_text())
    assert record["deterministic"] is False
    assert "a program joined by hand: /bin/bash on head" in record["disturbances"]
