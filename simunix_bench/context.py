"""The context of a benchmark: a folder, child processes that end with the benchmark, and Ctrl-C between two of them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simunix.launch.interrupts import Interrupts
from simunix.launch.parent_death import die_with

CHECKOUT = Path(__file__).resolve().parents[1]
"""The repository: it holds the scenarios and the C programs of the benchmarks."""
MODULES = {"PYTHONPATH": str(CHECKOUT)}
"""Environment of a child that runs a module of this package, which nobody has installed."""
SIMUNIX = (sys.executable, "-m", "simunix.cli.main")
LOOK_S = 0.25
PATIENCE_S = 20.0
"""How long a child may take to end in good order, in seconds, before it is killed."""


class MeasurementError(Exception):
    """A benchmark could not be measured. The message is one line with the reason."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A child that has ended. `wall_s` is from its start to its end; `returncode` is None if it was stopped for being late."""

    returncode: int | None
    stdout: str
    stderr: str
    wall_s: float

    @property
    def last_words(self) -> str:
        """The last line that the child printed, for a message."""
        lines = (self.stderr or self.stdout).strip().splitlines()
        return lines[-1].removeprefix("simunix: ") if lines else "it said nothing"


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a run of benchmarks. `is_quick` asks for shorter runs and rougher figures; `say` shows progress."""

    folder: Path
    is_quick: bool
    interrupts: Interrupts
    say: Callable[[str], None]

    @contextlib.contextmanager
    def started(
        self,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
        end_with: int = signal.SIGTERM,
        **files: Any,
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start a child in a session of its own, so that Ctrl-C in a terminal reaches only this process.

        The child is ended when the block is left or this process dies.
        """
        self.interrupts.check()
        process = subprocess.Popen(
            [str(argument) for argument in command],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env=None if environment is None else {**os.environ, **environment},
            preexec_fn=die_with(os.getpid(), end_with),
            **files,
        )
        try:
            yield process
        finally:
            stop(process, end_with)

    def run(
        self,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
        limit_s: float | None = None,
        end_with: int = signal.SIGTERM,
    ) -> Finished:
        """Run a command to its end, for `limit_s` seconds at most. Raises Interrupted when a signal has come meanwhile."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begin = time.perf_counter()
            with self.started(command, environment, end_with, stdout=out, stderr=err) as process:
                code = self.await_end(process, limit_s)
                wall_s = time.perf_counter() - begin
            out.seek(0)
            err.seek(0)
            return Finished(code, out.read().decode(errors="replace"), err.read().decode(errors="replace"), wall_s)

    def await_end(self, process: subprocess.Popen[bytes], limit_s: float | None = None) -> int | None:
        """Return the exit code; None if the child has not ended in time. Raises Interrupted when a signal has come."""
        deadline = None if limit_s is None else time.monotonic() + limit_s
        pidfd = os.pidfd_open(process.pid)
        try:
            while not select.select([pidfd], [], [], LOOK_S)[0]:
                self.interrupts.check()
                if deadline is not None and time.monotonic() > deadline:
                    return None
        finally:
            os.close(pidfd)
        self.interrupts.check()
        return process.wait()

    def simunix(self, *arguments: str | Path) -> Finished:
        """Run `simunix` with these arguments. Raises MeasurementError with its last line if it fails."""
        done = self.run([*SIMUNIX, *arguments])
        if done.returncode != 0:
            raise MeasurementError(done.last_words)
        return done

    def scenario(self, scenario: Path, *arguments: str) -> tuple[dict[str, Any], Path]:
        """Run a scenario; return the content of run.json, and the run directory."""
        out = Path(tempfile.mkdtemp(prefix=f"{scenario.stem}-", dir=self.folder)) / "run"
        self.simunix("run", scenario, "--out", out, *arguments)
        return json.loads((out / "run.json").read_text()), out


def stop(process: subprocess.Popen[bytes], number: int) -> None:
    """End a child with a signal, and kill it if it does not end."""
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
