"""Live progress on a terminal: virtual time, speed-up, jobs, time left.

Nothing is shown where stderr is no terminal, nor while the terminal is others': of a debugger, or of the job that is in the
foreground while this one is in the background.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, TextIO, cast

from rich.progress import BarColumn, Progress, TextColumn

from simunix.console import Console
from simunix.launch.emulation import Emulation
from simunix.units import human_time


def count_marks(path: Path, mark: bytes) -> int:
    """How often a file has a mark, such as a line's end; 0 if there is no such file yet."""
    count, rest = 0, b""
    try:
        with path.open("rb") as file:
            for block in iter(lambda: file.read(1 << 16), b""):
                text = rest + block
                count += text.count(mark)
                rest = text[len(text) - len(mark) + 1 :]  # where a mark may begin that the next block ends
            return count
    except OSError:
        return 0


class _Patient(io.TextIOBase):
    """A stream that forgets what cannot be written: a terminal that is closed must not end the run."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what can be written."""
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush what can be flushed."""
        with contextlib.suppress(OSError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The descriptor, of which the width of the terminal is asked."""
        return self._stream.fileno()


def _is_in_foreground() -> bool:
    """Whether the terminal on stderr is this process's to write to: a job in the background would write over the other's."""
    try:
        return os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
    except (OSError, ValueError):  # not the controlling terminal: there is no job control
        return True


class LiveProgress:
    """A watcher of an emulation: each call shows how far the run is. `done` counts the finished jobs, of `total`."""

    def __init__(self, total: int, done: Callable[[], int]) -> None:
        console = Console(file=cast("IO[str]", _Patient(sys.stderr)))
        self._active = console.is_terminal
        columns = (BarColumn(), TextColumn("{task.description}"))
        self._progress = Progress(*columns, console=console, transient=True, auto_refresh=False)  # nothing but a call draws
        self._task = self._progress.add_task("starting", total=total or None)
        self._total = total
        self._done = done
        self._started = time.monotonic()

    def __enter__(self) -> LiveProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.put_away()

    def put_away(self) -> None:
        """Take the bar off the terminal, until the next call."""
        if self._progress.live.is_started:
            self._progress.stop()

    def __call__(self, emulation: Emulation) -> None:
        if not self._active:
            return
        emulation.before_debugger = self.put_away
        if emulation.is_debugged or not _is_in_foreground():
            self.put_away()
            return
        wall = time.monotonic() - self._started
        virtual = emulation.kernel.now_ns / 1e9
        text = f"{human_time(virtual)} virtual, × {virtual / wall if wall else 0:,.0f}"
        if self._total:
            done = self._done()
            text += f", jobs {done:,}/{self._total:,}"
            if 0 < done < self._total:
                text += f", {human_time(wall / done * (self._total - done))} left"
            self._progress.update(self._task, completed=done)
        self._progress.start()
        self._progress.update(self._task, description=text, refresh=True)
