"""Looks at all threads of a run at the moment at which a choice has taken effect: what each waits for, and its stack."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rsg_server.choices.source import Strategy

MOST_PROCESSES, MOST_FRAMES = 6, 8
GDB_S = 60.0
"""How long one stack may take, wall time."""
_FRAME = re.compile(r"#\d+\s+(?:0x[0-9a-f]+ in )?(.*)")
OWN = re.compile(r"libsimunix\.so|/csrc/(shim|shared|tables)/")
"""What gdb says of frames of the shim: they wait for the turn, whatever the program does."""
OF_INTERPRETERS = ("??", "Py", "_Py", "__libc_start", "_start")
"""How frames begin that say nothing of a program: unknown ones, those of Python's interpreter, and those of the C library."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process to look at: its name for a person, and its pid for this process."""

    name: str
    pid: int


class Watched:
    """Takes what another strategy takes, and looks once, when the first choice behind a given one is made.

    `lines` and `processes` tell of the run; they are set by whoever makes the run.
    """

    def __init__(self, strategy: Strategy, number: int) -> None:
        self.strategy, self._number = strategy, number
        self.lines: Callable[[], list[str]] = list
        self.processes: Callable[[], list[Process]] = list
        self.seen: dict[str, Any] | None = None

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        """What the other strategy takes."""
        if number > self._number and self.seen is None:
            found = self.processes()[-MOST_PROCESSES:]
            self.seen = {"threads": self.lines(), "stacks": {process.name: stack_of(process.pid) for process in found}}
        return self.strategy.take(number, place, alternatives, actors)


def stack_of(pid: int) -> list[str]:
    """The innermost frames of all threads of a process, without those of simunix itself; [] without gdb, or if it fails."""
    gdb = shutil.which("gdb")
    if gdb is None:
        return []
    settings = ("set debuginfod enabled off", "set confirm off", "set pagination off", "set width 0")
    words = [gdb, "-nx", "-batch", *(word for each in settings for word in ("-iex", each))]
    words += ["-p", str(pid), "-ex", "thread apply all backtrace 60"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=GDB_S)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return frames_of(done.stdout)


def frames_of(text: str) -> list[str]:
    """The frames in what gdb prints: functions with arguments, and where they are."""
    frames: list[str] = []
    for line in text.splitlines():
        match = _FRAME.match(line)
        if match is None or OWN.search(line) or match[1].startswith(OF_INTERPRETERS):
            continue
        frames.append(match[1].strip()[:120])
    return frames[:MOST_FRAMES]
