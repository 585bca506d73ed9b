"""Show the progress of a sweep: live on a terminal, otherwise one line per minute; and report runs that have ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from simunix.console import Console
from simunix.launch.told import Progress as Told
from simunix.launch.told import described, read_progress
from simunix.sweep.child import last_words, log_file, progress_file
from simunix.sweep.runs import Run
from simunix.sweep.table import DONE, record_of, status_of
from simunix.units import human_time

LINE_EVERY_S = 60.0
LOOK_EVERY_S = 1.0
NAME_MAX = 40


class SweepProgress:
    """A Watcher that shows the progress of `runs`, which are still to be done; `kept` is the number of runs done
    before.

    `workers` is the number of runs at one time.
    """

    def __init__(self, directory: Path, runs: Sequence[Run], kept: int, workers: int = 1) -> None:
        self._directory = directory
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        columns = (BarColumn(bar_width=20), TextColumn("{task.description}"))
        self._bar = Progress(*columns, console=self._console, transient=True)
        self._waiting = {run.name: run for run in runs}
        self._total, self._done, self._failed = len(runs) + kept, kept, 0
        self._task = self._bar.add_task("starting", total=self._total, completed=kept)
        self._workers = workers
        self._wall_s: list[float] = []  # the real seconds of runs that have ended
        self._shown: dict[str, TaskID] = {}
        self._next_look_s, self._next_line_s = 0.0, time.monotonic() + LINE_EVERY_S

    def __enter__(self) -> SweepProgress:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def tick(self) -> None:
        """Read the progress of all active runs, once per second; show it live, or print it once per minute."""
        now_s = time.monotonic()
        if now_s < self._next_look_s:
            return
        self._next_look_s = now_s + LOOK_EVERY_S
        if self._console.is_terminal:
            self._show(self._under_way())
        elif now_s >= self._next_line_s:
            self._next_line_s = now_s + LINE_EVERY_S
            told = self._under_way()
            lines = [f"{name}: {described(progress)}" for name, progress in told.items()]
            self._console.print("simunix: " + "; ".join([self._summary(told), *lines]), markup=False)

    def _under_way(self) -> dict[str, Told]:
        """Return the progress of each active run of the sweep, by the run's name."""
        names = {path.name for path in (self._directory / "runs").glob(".*.progress")}
        found = {}
        for name, run in self._waiting.items():
            path = progress_file(self._directory, run)
            if path.name in names and (progress := read_progress(path)) is not None:
                found[name] = progress
        return found

    def _summary(self, told: dict[str, Told]) -> str:
        text = f"{self._done}/{self._total} runs"
        if self._failed:
            text += f", {self._failed} failed"
        left_s = self._left_s(told)
        return text if left_s is None else f"{text}, {human_time(left_s)} left"

    def _left_s(self, told: dict[str, Told]) -> float | None:
        """Return the estimated real seconds until the end, from the mean of ended runs or from what active runs expect;
        None if unknown.
        """
        expected = [each.wall_s + each.left_s for each in told.values() if each.left_s is not None]
        known = self._wall_s or expected
        if not known or not self._waiting:
            return None
        a_run_s = sum(known) / len(known)
        under_way_s = sum(min(each.wall_s, a_run_s) for each in told.values())
        return max(0.0, len(self._waiting) * a_run_s - under_way_s) / min(self._workers, len(self._waiting))

    def _show(self, told: dict[str, Told]) -> None:
        for name in [name for name in self._shown if name not in told]:
            self._bar.remove_task(self._shown.pop(name))
        for name, each in told.items():
            if name not in self._shown:
                self._shown[name] = self._bar.add_task(name, total=each.jobs_total or None)
            short = name if len(name) <= NAME_MAX else f"{name[: NAME_MAX - 1]}…"
            text = escape(f"{short}: {described(each)}")
            self._bar.update(self._shown[name], description=text, completed=each.jobs_done)
        self._bar.update(self._task, description=self._summary(told), completed=self._done)

    def ended(self, run: Run, problem: str) -> None:
        """Count a run that has ended; print a line if it failed, or if there is no terminal for the bar."""
        record = record_of(self._directory, run)
        status = status_of(record)
        self._done += 1
        self._waiting.pop(run.name, None)
        if status == DONE and record is not None:
            self._wall_s.append(record["wall_s"])
            if not self._console.is_terminal:
                took = human_time(record["wall_s"])
                self._console.print(f"simunix: {self._done}/{self._total} {run.name}: done in {took}", markup=False)
            return
        self._failed += 1
        told = record["failure"] if record else last_words(self._directory, run)
        reason = problem or told or f"see {log_file(self._directory, run)}"
        self._console.print(f"simunix: {self._done}/{self._total} {run.name}: {status}: {reason}", markup=False)
