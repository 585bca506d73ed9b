"""`--gdb`: a named program is held at its start until gdb is there, and no virtual time passes while gdb looks at it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.needs import needs
from tests.starts import without_notices
from tests.system.user import User

pytestmark = needs("gdb")
PROGRAM = """
#include <stdio.h>
#include <unistd.h>
int answer = 41;
void __attribute__((noinline)) stop_here(void) { answer++; __asm__ volatile(""); }
int main(void) { sleep(3600); stop_here(); printf("%d\\n", answer); return 5; }
"""
SCRIPT = "date +%s.%N; {binary}; echo code $?; date +%s.%N"


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("debugged")
    (folder / "debugged.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-g", "-O1", "-o", folder / "debugged", folder / "debugged.c"], check=True)
    return folder / "debugged"


def debug(binary: Path, out: Path, commands: list[str], is_stopped: bool = False) -> tuple[str, str, int]:
    """What gdb says, what the run printed, and its exit code, with gdb started as the run tells the user to.

    With `is_stopped` simunix does not run while gdb does.
    """
    run = [sys.executable, "-m", "simunix.cli.main", "run", "--gdb", "debugged", "--out", out, "--"]
    script = ["sh", "-c", SCRIPT.format(binary=binary)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    options = {"env": environment, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*run, *script], text=True, **options) as running:  # type: ignore[call-overload]
        try:
            said = attach(running, commands, is_stopped)
            stdout, _ = running.communicate(timeout=60)
        finally:
            running.kill()
    return said, stdout, running.returncode


def attach(running: subprocess.Popen[str], commands: list[str], is_stopped: bool = False) -> str:
    """Read from the run how to start gdb, and do so; what gdb says."""
    assert running.stderr is not None
    line = next(filter(without_notices, running.stderr), "")
    told = re.fullmatch(r"simunix: debugged\[4\]@\S+ waits for a debugger; in a terminal: (gdb .* -p \d+)\n", line)
    assert told, line
    words = [*told[1].split(), "-batch", *(word for command in commands for word in ("-ex", command))]
    if is_stopped:
        running.send_signal(signal.SIGSTOP)
    gdb = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    running.send_signal(signal.SIGCONT)
    if "ptrace: Operation not permitted" in gdb.stderr:
        pytest.skip("gdb may not attach here")
    return gdb.stdout


def test_breakpoints_and_changes_in_virtual_time(simunix: Simunix, binary: Path, tmp_path: Path) -> None:
    commands = ["break stop_here", "continue", "backtrace", "set var answer = 100", "delete", "continue"]
    said, printed, code = debug(binary, tmp_path / "out", commands)
    assert re.search(r"Breakpoint 1(\.1)?, stop_here \(\) at .*debugged.c:5", said)
    assert re.search(r"#1 .* in main \(\)", said)
    assert "exited with code 05" in said
    assert "SIGSYS" not in said.partition("Breakpoint 1 at")[2]
    undisturbed = simunix("run", "--", "sh", "-c", SCRIPT.format(binary=binary))
    assert printed == undisturbed.stdout.replace("42\n", "101\n")
    assert (code, "code 5\n" in printed) == (0, True)


def test_a_killed_program_is_missed_by_its_parent(binary: Path, tmp_path: Path) -> None:
    _, printed, code = debug(binary, tmp_path / "out", ["kill"])
    assert (code, "code 137\n" in printed) == (0, True)


@pytest.mark.parametrize("is_stopped", [False, True], ids=["", "unseen"])
def test_a_detached_program_goes_on(binary: Path, tmp_path: Path, is_stopped: bool) -> None:
    """Also if gdb has come and gone before simunix has looked, as on a busy computer."""
    _, printed, code = debug(binary, tmp_path / "out", ["detach"], is_stopped)
    assert (code, "42\ncode 5\n" in printed) == (0, True)


def test_what_cannot_be_debugged_is_said(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", "--gdb", "nowhere:sh", "--", "sh", "-c", "true")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--gdb nowhere:sh: no host 'nowhere'; known: " in done.stderr
    done = simunix("run", "--gdb", "other", "--", "sh", "-c", "true")
    assert (done.returncode, done.stderr) == (0, "simunix: --gdb other: no process of this name was started\n")


def test_gdb_has_the_terminal_for_itself_and_shows_its_prompt_at_the_end(binary: Path, tmp_path: Path) -> None:
    if subprocess.run(["gdb", "-q", "-batch", "-p", str(os.getppid())], capture_output=True, check=False).returncode:
        pytest.skip("gdb may not attach here")
    scenario = tmp_path / "s.yaml"
    processes = f"[{{name: tick, host: a, command: 'sleep 1'}}, {{name: p, host: a, start: 5s, command: 'exec {binary}'}}]"
    scenario.write_text(f"name: s\nhosts: [{{name: a}}]\nprocesses: {processes}\n")
    words = ("run", scenario, "--gdb", "debugged", "--pace", "5", "--until", "15s", "--out", tmp_path / "out")
    with User(*words) as user:
        user.sees("virtual, ×")  # the progress of the run
        user.sees("waits at its start; set breakpoints, then continue")
        user.sees("(gdb) ")
        time.sleep(1)
        user.type("print 6 * 7\r")
        shown = user.sees("$1 = 42")
        assert "virtual" not in shown and "\x1b[2K" not in shown
        user.sees("(gdb) ")
        user.type("continue\r")
        user.sees("the run has ended (time limit); quit gdb to go on")
        user.sees("(gdb) ")
        user.type("quit\r")
        user.sees("Quit anyway?")
        user.type("y\r")
        assert user.ends() == 0
        assert user.is_as_before()
