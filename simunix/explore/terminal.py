"""Shows an exploration on the terminal: a progress line, a line for each new failure, and the result."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TextColumn

from simunix.console import Console
from simunix.explore.capsule import Capsule
from simunix.explore.record import Row
from simunix.units import human_time

if TYPE_CHECKING:
    from simunix.explore.explore import Progress as Explored

LINE_S = 60.0
"""The real seconds between two lines of progress if there is no terminal that could show a progress bar."""
CONFIDENCE_RUNS = 3
"""After n runs without a failure, the rate of failures is below 3 / n with 95 % confidence (the rule of three)."""


class Terminal:
    """Shows the progress of one exploration on standard error, and its results on standard output."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._out = Console(highlight=False, soft_wrap=True)
        self._bar = Progress(BarColumn(), TextColumn("{task.description}"), console=self._console, transient=True)
        self._task = self._bar.add_task("starting", total=None)
        self._started = self._said = time.monotonic()

    def __enter__(self) -> Terminal:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def begin(self, seeds: int, done: int) -> None:
        """Show the start of an exploration of so many seeds, some of which have run in an earlier call."""
        self._bar.update(self._task, total=seeds, completed=done)
        if done:
            self._console.print(f"simunix: {done:,} seeds have run in an earlier call", markup=False)

    def tick(self, explored: Explored) -> None:
        """Update the progress line; without a terminal, write one line per minute."""
        now = time.monotonic()
        rate = explored.new / max(now - self._started, 1e-9)
        text = f"{len(explored.rows):,} seeds, {rate:.1f} a second, {len(explored.failures)} distinct failures"
        if explored.reached:
            text += f", checks reached: {', '.join(explored.reached)}"
        self._bar.update(self._task, description=text, completed=len(explored.rows))
        if not self._console.is_terminal and now - self._said >= LINE_S:
            self._said = now
            self._console.print(f"simunix: {text}", markup=False)

    def say(self, text: str) -> None:
        """Show a text about the present activity in place of the progress line."""
        self._bar.update(self._task, description=text)

    def ended(self, row: Row, is_new: bool) -> None:
        """Count a run that has ended."""
        if is_new:
            self._console.print(f"simunix: seed {row.seed} ({row.strategy}): {row.failed[0]}", markup=False)

    def failure(self, capsule: Capsule, seeds: list[int], path: Path, story: list[str]) -> None:
        """Print the story of a failure, which so many seeds have had."""
        self._out.print(f"\n{capsule.signature}", markup=False, style="bold")
        self._out.print(f"  first by seed {seeds[0]} ({capsule.strategy}), in {len(seeds):,} runs", markup=False)
        for line in story:
            self._out.print(f"  {line}", markup=False)
        self._out.print(f"  again: simunix replay {path}", markup=False)

    def end(self, explored: Explored, folder: Path, never_reached: list[str], interrupted: bool, report: Path) -> None:
        """Print the result of the exploration."""
        self._bar.stop()
        took = human_time(time.monotonic() - self._started)
        runs = len(explored.rows)
        words = f"{runs:,} seeds have run, {explored.new:,} of them in this call, in {took}: "
        if explored.failures:
            words += f"{len(explored.failures)} distinct failures, kept in {folder}"
        elif runs:
            words += f"nothing failed; with 95 % confidence fewer than {CONFIDENCE_RUNS / runs:.2%} of all seeds fail"
        if interrupted:
            words += "; interrupted: repeat the command to go on"
        self._out.print(f"\n{words}", markup=False)
        self._out.print(f"report: {report}", markup=False)
        for name in never_reached:
            self._out.print(f"no seed has reached {name} (sometimes)", markup=False)
        for number in explored.unequal:
            self._out.print(f"two runs with seed {number} gave different event logs", markup=False)
