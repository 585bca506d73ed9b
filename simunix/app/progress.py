"""Show the progress of a run on a terminal: virtual time, speed-up, jobs, time left.

Nothing is shown if stderr is no terminal. Nor is anything shown while another program uses the terminal: a debugger, or
the shell's foreground job while simunix is in the background.
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
    """Return how many times the bytes `mark`, such as an end of line, are in a file; 0 if the file does not exist yet."""
    count, rest = 0, b""
    try:
        with path.open("rb") as file:
            for block in iter(lambda: file.read(1 << 16), b""):
                text = rest + block
                count += text.count(mark)
                # the last bytes of this block, since a mark may begin in one block and end in the next
                rest = text[len(text) - len(mark) + 1 :]
            return count
    except OSError:
        return 0


class _Patient(io.TextIOBase):
    """A stream that drops what it cannot write, because a terminal that the user closes must not end the run."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, or drop it if the stream cannot be written; return the number of characters."""
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream; ignore the error if the stream cannot be written."""
        with contextlib.suppress(OSError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the stream, from which rich learns the width of the terminal."""
        return self._stream.fileno()


def _is_in_foreground() -> bool:
    """Return whether this process is in the foreground of the terminal on stderr. A job in the background would write
    over the foreground job's output.
    """
    try:
        return os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
    except (OSError, ValueError):  # stderr is not the controlling terminal, and so without job control
        return True


class LiveProgress:
    """A function that shows how far a run is, each time that the emulation calls it. `done` returns the number of
    finished jobs, of `total`.
    """

    def __init__(self, total: int, done: Callable[[], int]) -> None:
        console = Console(file=cast("IO[str]", _Patient(sys.stderr)))
        self._active = console.is_terminal
        columns = (BarColumn(), TextColumn("{task.description}"))
        # rich draws when this object is called, and at no other time
        self._progress = Progress(*columns, console=console, transient=True, auto_refresh=False)
        self._task = self._progress.add_task("starting", total=total or None)
        self._total = total
        self._done = done
        self._started = time.monotonic()

    def __enter__(self) -> LiveProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.put_away()

    def put_away(self) -> None:
        """Remove the progress bar from the terminal until the next call shows it again."""
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
