"""simunix copes with its surroundings: a terminal that is closed, too little memory, a user who interrupts at once."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from rsg_server.errors import ServerError
from tests.system.tools.test_ends import LIMIT_S, environment, line, scenario

FOR_EVER = "while :; do /bin/true; sleep 1; done"
WHILE_LOADING = """
import builtins, os, signal
load = builtins.__import__
def interrupt(name, *rest):
    if name == "argparse":
        os.kill(os.getpid(), signal.SIGINT)
    return load(name, *rest)
builtins.__import__ = interrupt
from simunix.cli.start import console
console()
"""


def on_terminal(folder: Path, ignored: bool, *words: str) -> tuple[subprocess.Popen[bytes], int]:
    """Simunix as the leader of a session on a terminal, its messages in the file `messages`; the terminal's master."""
    master, slave = os.openpty()

    def lead() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        if ignored:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with (folder / "messages").open("w") as messages:
        process = subprocess.Popen(
            line(*words), cwd=folder, env=environment(), stdin=slave, stdout=slave, stderr=messages, preexec_fn=lead
        )
    os.close(slave)
    return process, master


def await_file(path: Path) -> None:
    """Wait until a run has written something into a file."""
    end = time.monotonic() + LIMIT_S
    while not path.exists() or path.stat().st_size == 0:
        assert time.monotonic() < end, path
        time.sleep(0.05)


@pytest.mark.slow
def test_a_closed_terminal_ends_the_run_in_good_order(tmp_path: Path) -> None:
    process, master = on_terminal(tmp_path, False, "run", scenario(tmp_path, FOR_EVER), "--out", "out")
    await_file(tmp_path / "out" / "events.jsonl")
    os.close(master)
    assert process.wait(LIMIT_S) == 128 + signal.SIGHUP
    assert "Traceback" not in (tmp_path / "messages").read_text()
    assert json.loads((tmp_path / "out" / "run.json").read_text())["ended"] == "interrupted"


@pytest.mark.slow
def test_a_run_goes_on_without_its_terminal_if_it_is_to(tmp_path: Path) -> None:
    process, master = on_terminal(tmp_path, True, "run", scenario(tmp_path), "--out", "out")
    os.close(master)
    assert process.wait(LIMIT_S) == ServerError.exit_code
    assert (tmp_path / "messages").read_text() == "simunix: standard output: Input/output error; the results are in out\n"
    assert json.loads((tmp_path / "out" / "run.json").read_text())["ended"] == "done"


@pytest.mark.slow
@pytest.mark.parametrize("mib", [24, 32, 40, 48, 56, 64, 96])
def test_too_little_memory_is_one_line(tmp_path: Path, mib: int) -> None:
    size = mib << 20
    done = subprocess.run(
        line("run", scenario(tmp_path), "--out", "out"),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
    )
    assert (done.returncode, done.stderr) == (0, "") or (done.returncode == 1 and done.stderr.count("\n") == 1), done.stderr


def test_an_interrupt_while_modules_are_loaded_leaves_no_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", WHILE_LOADING], capture_output=True, text=True, check=False, timeout=LIMIT_S)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
