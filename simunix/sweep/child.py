"""Run one run of an experiment as a child process; the parent is a Dask worker on this or another computer."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

from simunix.launch.parent_death import die_with
from simunix.launch.told import ENDING, VARIABLE
from simunix.sweep.runs import Run

LOOK_S = 0.1
STOPPED = 130
LAST_BYTES = 4096
PATIENCE_S = 20.0
"""How many real seconds a run may take to write its results after it was told to end."""


def run_folder(directory: Path, run: Run) -> Path:
    """Return the folder of a run in the folder of the experiment."""
    return directory / "runs" / run.name


def log_file(directory: Path, run: Run) -> Path:
    """Return the file with the output of a run's `simunix run`."""
    return directory / "runs" / f"{run.name}.log"


def progress_file(directory: Path, run: Run) -> Path:
    """Return the file in which an active run reports its progress."""
    return directory / "runs" / f".{run.name}{ENDING}"


def last_words(directory: Path, run: Run) -> str:
    """Return the last line that a run's `simunix run` printed, which is the reason if the run has no results."""
    try:
        with log_file(directory, run).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - LAST_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip().removeprefix("simunix: ") for line in reversed(lines) if line.strip()), "")


def stop_file(directory: Path) -> Path:
    """Return the file whose existence tells all runs of an experiment to end."""
    return directory / ".stop"


def command(directory: Path, run: Run) -> list[str]:
    """Return the command line of a run, which a user may also execute by hand."""
    arguments = [sys.executable, "-m", "simunix.cli.main", "run", str(run.scenario), "--seed", str(run.seed)]
    arguments += ["--out", str(run_folder(directory, run))]
    return [*arguments, *(argument for override in run.overrides for argument in ("--set", override))]


def execute(directory: Path, run: Run) -> int:
    """Execute a run until it ends or the stop file appears; return the exit code. The child process ends together with
    the calling thread.
    """
    if stop_file(directory).exists():
        return STOPPED
    with log_file(directory, run).open("wb") as log:
        process = subprocess.Popen(
            command(directory, run),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, VARIABLE: str(progress_file(directory, run))},
            start_new_session=True,  # Ctrl-C in a terminal goes to the sweep alone, which lets its runs end in good order
            preexec_fn=die_with(os.getpid()),
        )
        try:
            return _wait(process, stop_file(directory))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            with contextlib.suppress(OSError):
                progress_file(directory, run).unlink(missing_ok=True)


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
