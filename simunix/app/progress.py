"""Live progress on a terminal: virtual time, speed-up, jobs, time left. Silent anywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from simunix.launch.emulation import Emulation
from simunix.units import human_time


def count_lines(path: Path) -> int:
    """Lines of a file that may not exist yet."""
    try:
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 16), b""))
    except OSError:
        return 0


class LiveProgress:
    """Call it with the emulation now and then; `done` counts finished jobs of `total`."""

    def __init__(self, total: int, done: Callable[[], int]) -> None:
        console = Console(stderr=True)
        self._active = console.is_terminal
        self._progress = Progress(BarColumn(), TextColumn("{task.description}"), console=console, transient=True)
        self._task = self._progress.add_task("starting", total=total or None)
        self._total = total
        self._done = done
        self._started = time.monotonic()

    def __enter__(self) -> LiveProgress:
        if self._active:
            self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._active:
            self._progress.stop()

    def __call__(self, emulation: Emulation) -> None:
        if not self._active:
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
        self._progress.update(self._task, description=text)
