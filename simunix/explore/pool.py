"""Runs several attempts at a time, each in a process of its own; results come in the order in which the attempts end."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from simunix.explore.attempt import Attempt, Outcome, outcome, start
from simunix.launch.interrupts import Interrupts
from simunix.launch.run_directory import remove_tree

Key = TypeVar("Key")
LOOK_S = 0.02
KILL_AFTER_S = 30.0
"""How long (real seconds) attempts may take to end after an interrupt."""


class Pool(Generic[Key]):
    """Runs attempts in folders below `directory`, at most `jobs` at a time; `ended` yields the results."""

    def __init__(self, directory: Path, jobs: int, interrupts: Interrupts) -> None:
        self._directory, self._jobs, self._interrupts = directory, jobs, interrupts
        self._running: dict[int, tuple[Key, Path]] = {}  # by pid
        self._next = 0

    def __len__(self) -> int:
        return len(self._running)

    @property
    def is_full(self) -> bool:
        """Whether no further attempt can be started now."""
        return len(self._running) >= self._jobs

    def start(self, key: Key, attempt: Attempt) -> None:
        """Start an attempt; there must be room."""
        self._next += 1
        folder = self._directory / f"attempt-{self._next}"
        if folder.exists():  # the folder was left by an exploration that was killed
            remove_tree(folder)
        self._running[start(attempt, folder)] = (key, folder)

    def ended(self, tick: Callable[[], None]) -> Iterator[tuple[Key, Outcome, Path]]:
        """Wait for at least one attempt to end; yield key, outcome and folder of each. `tick` is called again and again
        during the wait. After an interrupt no result is yielded: running attempts are ended, and their folders are
        removed.
        """
        while self._running and not self._interrupts.came:
            done = [pid for pid in self._running if (os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))]
            for pid in done:
                yield from self._finish(pid)
            if done:
                return
            tick()
            time.sleep(LOOK_S)
        if self._interrupts.came:
            self.close()

    def _finish(self, pid: int) -> Iterator[tuple[Key, Outcome, Path]]:
        _, status = os.waitpid(pid, 0)
        key, folder = self._running.pop(pid)
        result = outcome(folder, status)
        if result is not None:
            yield key, result, folder
        if folder.exists():
            remove_tree(folder)

    def close(self) -> None:
        """End all attempts by SIGINT, so that they clean up, and remove their folders."""
        for pid in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)
        end = time.monotonic() + KILL_AFTER_S
        while self._running and time.monotonic() < end:
            for pid in [each for each in self._running if os.waitpid(each, os.WNOHANG)[0]]:
                self._forget(pid)
            time.sleep(LOOK_S)
        for pid in list(self._running):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            self._forget(pid)

    def _forget(self, pid: int) -> None:
        _, folder = self._running.pop(pid)
        if folder.exists():
            remove_tree(folder)


def kept(folder: Path, target: Path) -> None:
    """Move the folder of an attempt's run to the place where it is to be kept, and replace an older folder there."""
    if target.exists():
        remove_tree(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(folder, target)
