"""One run of an experiment as a child process of whoever calls: a worker of Dask, on this computer or another one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from simunix.launch.parent_death import die_with
from simunix.sweep.runs import Run

LOOK_S = 0.1
STOPPED = 130
LAST_BYTES = 4096
PATIENCE_S = 20.0
"""So long a run that is told to end may take to write its results."""


def run_folder(directory: Path, run: Run) -> Path:
    """The run's own folder in that of the experiment."""
    return directory / "runs" / run.name


def log_file(directory: Path, run: Run) -> Path:
    """What `simunix run` printed."""
    return directory / "runs" / f"{run.name}.log"


def last_words(directory: Path, run: Run) -> str:
    """The last line of what `simunix run` printed: why there is no run, if there is none."""
    try:
        with log_file(directory, run).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip().removeprefix("simunix: ") for line in reversed(lines) if line.strip()), "")


def stop_file(directory: Path) -> Path:
    """While it is there, runs end."""
    return directory / ".stop"


def command(directory: Path, run: Run) -> list[str]:
    """The command line of the run, which anybody may repeat by hand."""
    words = [sys.executable, "-m", "simunix.cli.main", "run", str(run.scenario), "--seed", str(run.seed)]
    words += ["--out", str(run_folder(directory, run))]
    return [*words, *(word for override in run.overrides for word in ("--set", override))]


def execute(directory: Path, run: Run) -> int:
    """Run it to its end, or until the stop file appears; its exit code. The child ends when the caller's thread does."""
    if stop_file(directory).exists():
        return STOPPED
    with log_file(directory, run).open("wb") as log:
        process = subprocess.Popen(
            command(directory, run),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in a terminal is the sweep's, which lets its runs end in good order
            preexec_fn=die_with(os.getpid()),
        )
        try:
            return _wait(process, stop_file(directory))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _wait(process: subprocess.Popen[bytes], stop: Path) -> int:
    deadline = None
    while process.poll() is None:
        if deadline is None and stop.exists():
            process.terminate()
            deadline = time.monotonic() + PATIENCE_S
        if deadline is not None and time.monotonic() > deadline:
            process.kill()
        time.sleep(LOOK_S)
    return process.returncode
