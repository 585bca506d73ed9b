"""The context of a benchmark: a temporary folder, child processes that end together with the benchmark, and the
handling of Ctrl-C.
"""

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
"""The folder of the checkout, which has the scenarios and the C programs of the benchmarks."""
MODULES = {"PYTHONPATH": str(CHECKOUT)}
"""The environment of a child process that runs a module of this package, which is not installed."""
SIMUNIX = (sys.executable, "-m", "simunix.cli.main")
LOOK_S = 0.25
PATIENCE_S = 20.0
"""How many seconds a child process may take to end in good order before it is killed."""


class MeasurementError(Exception):
    """The error that a benchmark could not be measured; its message is one line with the reason."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a child process. `wall_s` is the time from its start to its end; `returncode` is None if it was
    stopped for taking too long.
    """

    returncode: int | None
    stdout: str
    stderr: str
    wall_s: float

    @property
    def last_words(self) -> str:
        """The last line that the child process printed, for a message."""
        lines = (self.stderr or self.stdout).strip().splitlines()
        return lines[-1].removeprefix("simunix: ") if lines else "it said nothing"


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a run of benchmarks. `is_quick` asks for shorter runs and less exact figures; `say` shows
    progress.
    """

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
        """Start a child process in a session of its own, so that Ctrl-C in a terminal reaches only this process.

        The child process is ended at the end of the `with` block, or when this process dies.
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
        """Run a command until it ends, for at most `limit_s` seconds, and return the result. Raises Interrupted if a
        signal has come in the meantime.
        """
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begin = time.perf_counter()
            with self.started(command, environment, end_with, stdout=out, stderr=err) as process:
                code = self.await_end(process, limit_s)
                wall_s = time.perf_counter() - begin
            out.seek(0)
            err.seek(0)
            return Finished(code, out.read().decode(errors="replace"), err.read().decode(errors="replace"), wall_s)

    def await_end(self, process: subprocess.Popen[bytes], limit_s: float | None = None) -> int | None:
        """Wait for the end of a child process and return its exit code; None if it has not ended within `limit_s`
        seconds. Raises Interrupted if a signal has come.
        """
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
        """Run `simunix` with these arguments, and return the result. Raises MeasurementError with its last line of
        output if it fails.
        """
        done = self.run([*SIMUNIX, *arguments])
        if done.returncode != 0:
            raise MeasurementError(done.last_words)
        return done

    def scenario(self, scenario: Path, *arguments: str) -> tuple[dict[str, Any], Path]:
        """Run a scenario; return the content of run.json, and the run directory. Raises MeasurementError if the run
        fails.
        """
        out = Path(tempfile.mkdtemp(prefix=f"{scenario.stem}-", dir=self.folder)) / "run"
        self.simunix("run", scenario, "--out", out, *arguments)
        return json.loads((out / "run.json").read_text()), out


def stop(process: subprocess.Popen[bytes], number: int) -> None:
    """End a child process with a signal, and kill it if it does not end within PATIENCE_S seconds."""
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
