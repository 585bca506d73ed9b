"""What a benchmark has to work with: a folder, child processes that end with it, and Ctrl-C heard between two of them."""

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

CHECKOUT = Path(__file__).resolve().parents[2]
"""The repository, if this is one: it holds the scenarios and the C programs of the benchmarks."""
SIMUNIX = (sys.executable, "-m", "simunix.cli.main")
LOOK_S = 0.25
PATIENCE_S = 20.0
"""So long a child that is told to end may take to do so in good order."""


class MeasurementError(Exception):
    """A benchmark could not be measured; the text is one line and says why."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A child that has ended. `wall_s` is from its start to its end; `returncode` is None if it was stopped for being late."""

    returncode: int | None
    stdout: str
    stderr: str
    wall_s: float

    @property
    def last_words(self) -> str:
        """The last line that it said, for a message."""
        lines = (self.stderr or self.stdout).strip().splitlines()
        return lines[-1].removeprefix("simunix: ") if lines else "it said nothing"


@dataclass(frozen=True, slots=True)
class Context:
    """Of a run of benchmarks. `is_quick` asks for shorter runs and rougher figures; `say` shows what goes on."""

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
        """A child in a session of its own: a terminal's Ctrl-C is ours alone. When the block is left, or we die, it ends."""
        self.interrupts.check()
        process = subprocess.Popen(
            [str(word) for word in command],
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
        """Run a command to its end, for `limit_s` at most. Raises Interrupted when a signal has come meanwhile."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begin = time.perf_counter()
            with self.started(command, environment, end_with, stdout=out, stderr=err) as process:
                code = self.await_end(process, limit_s)
                wall_s = time.perf_counter() - begin
            out.seek(0)
            err.seek(0)
            return Finished(code, out.read().decode(errors="replace"), err.read().decode(errors="replace"), wall_s)

    def await_end(self, process: subprocess.Popen[bytes], limit_s: float | None = None) -> int | None:
        """Its exit code; None if it has not ended in time. Raises Interrupted when a signal has come."""
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

    def simunix(self, *words: str | Path) -> Finished:
        """Run `simunix WORDS`. Raises MeasurementError with its last words if it fails."""
        done = self.run([*SIMUNIX, *words])
        if done.returncode != 0:
            raise MeasurementError(done.last_words)
        return done

    def scenario(self, scenario: Path, *words: str) -> tuple[dict[str, Any], Path]:
        """Run a scenario: what run.json says, and the run directory."""
        out = Path(tempfile.mkdtemp(prefix=f"{scenario.stem}-", dir=self.folder)) / "run"
        self.simunix("run", scenario, "--out", out, *words)
        return json.loads((out / "run.json").read_text()), out


def stop(process: subprocess.Popen[bytes], number: int) -> None:
    """End a child with a signal, and if it does not listen, by force."""
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()
