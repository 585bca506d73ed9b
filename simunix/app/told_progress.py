"""Write the progress of a run into a small file for the sweep that started the run. An environment variable names the
file.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import psutil

from simunix.launch.emulation import Emulation
from simunix.launch.told import VARIABLE, Progress

EVERY_S = 1.0
MEMORY_EVERY_S = 10.0


class ToldProgress:
    """A function that writes the progress file each time that the emulation calls it, if the environment names a file.
    `done` returns the number of finished jobs, of `total`.
    """

    def __init__(self, total: int, done: Callable[[], int]) -> None:
        name = os.environ.get(VARIABLE)
        self._path = Path(name) if name else None
        self._total, self._done = total, done
        self._started = time.monotonic()
        self._next_s = self._next_memory_s = 0.0
        self._memory_bytes = 0

    def beside(self, other: Callable[[Emulation], None]) -> Callable[[Emulation], None]:
        """Return a function that calls another watcher of the emulation, and then this watcher."""

        def both(emulation: Emulation) -> None:
            other(emulation)
            self(emulation)

        return both

    def __call__(self, emulation: Emulation) -> None:
        """Write the progress file anew, at most once per second of real time. An error of the write is ignored, because
        the run can go on without the file.
        """
        wall_s = time.monotonic() - self._started
        if self._path is None or wall_s < self._next_s:
            return
        self._next_s = wall_s + EVERY_S
        if wall_s >= self._next_memory_s:
            self._next_memory_s, self._memory_bytes = wall_s + MEMORY_EVERY_S, memory_of_run()
        progress = Progress(emulation.kernel.now_ns / 1e9, wall_s, self._done(), self._total, self._memory_bytes)
        draft = self._path.with_suffix(".part")
        with contextlib.suppress(OSError):
            draft.write_text(json.dumps(asdict(progress)))
            draft.replace(self._path)


def memory_of_run() -> int:
    """Return the private memory (not shared with other processes), in bytes, of this process and all its descendants."""
    total = 0
    own = psutil.Process()
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            memory = process.memory_info()
            total += max(0, memory.rss - memory.shared)
    return total
