"""The progress of a sweep: a bar on a terminal, otherwise a line for each run that has ended."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType

from rich.progress import BarColumn, Progress, TextColumn

from simunix.console import Console
from simunix.sweep.child import last_words, log_file
from simunix.sweep.runs import Run
from simunix.sweep.table import DONE, record_of, status_of
from simunix.units import human_time


class SweepProgress:
    """A Watcher that shows progress. `kept` of the `total` runs were done before."""

    def __init__(self, directory: Path, total: int, kept: int) -> None:
        self._directory = directory
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._bar = Progress(BarColumn(), TextColumn("{task.description}"), console=self._console, transient=True)
        self._task = self._bar.add_task("starting", total=total, completed=kept)
        self._total, self._done, self._failed, self._new = total, kept, 0, 0
        self._started = time.monotonic()

    def __enter__(self) -> SweepProgress:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def tick(self) -> None:
        """Update the bar."""
        text = f"{self._done}/{self._total} runs"
        if self._failed:
            text += f", {self._failed} failed"
        if self._new and self._done < self._total:
            left_s = (time.monotonic() - self._started) / self._new * (self._total - self._done)
            text += f", {human_time(left_s)} left"
        self._bar.update(self._task, description=text, completed=self._done)

    def ended(self, run: Run, problem: str) -> None:
        """Count the run; print a line if it failed, or if there is no terminal for the bar."""
        record = record_of(self._directory, run)
        status = status_of(record)
        self._done += 1
        self._new += 1
        if status == DONE and record is not None:
            if not self._console.is_terminal:
                took = human_time(record["wall_s"])
                self._console.print(f"simunix: {self._done}/{self._total} {run.name}: done in {took}", markup=False)
            return
        self._failed += 1
        told = record["failure"] if record else last_words(self._directory, run)
        reason = problem or told or f"see {log_file(self._directory, run)}"
        self._console.print(f"simunix: {self._done}/{self._total} {run.name}: {status}: {reason}", markup=False)
