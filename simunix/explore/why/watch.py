"""Records what each thread of a run waits for, and its stack, at the moment at which a choice has taken effect."""

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
"""How long (real seconds) gdb may take for the stacks of one process."""
_FRAME = re.compile(r"#\d+\s+(?:0x[0-9a-f]+ in )?(.*)")
OWN = re.compile(r"libsimunix\.so|/csrc/(shim|shared|tables)/")
"""The texts in gdb's output for stack frames of the shim, which wait for the turn, whatever the program does."""
OF_INTERPRETERS = ("??", "Py", "_Py", "__libc_start", "_start")
"""The beginnings of stack frames that say nothing about a program: unknown frames, those of Python's interpreter, and
those of the C library.
"""


@dataclass(frozen=True, slots=True)
class Process:
    """A process to look at: its name for reports, and its pid as this process sees it."""

    name: str
    pid: int


class Watched:
    """A strategy that makes the choices of another strategy, and that looks at all threads once: when the first choice
    after a given one is made. The code that makes the run sets `lines` and `processes`, functions that return the
    threads' waits and the processes.
    """

    def __init__(self, strategy: Strategy, number: int) -> None:
        self.strategy, self._number = strategy, number
        self.lines: Callable[[], list[str]] = list
        self.processes: Callable[[], list[Process]] = list
        self.seen: dict[str, Any] | None = None

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        """Return the alternative that the other strategy chooses."""
        if number > self._number and self.seen is None:
            found = self.processes()[-MOST_PROCESSES:]
            self.seen = {"threads": self.lines(), "stacks": {process.name: stack_of(process.pid) for process in found}}
        return self.strategy.take(number, place, alternatives, actors)


def stack_of(pid: int) -> list[str]:
    """Return the innermost stack frames of all threads of a process, without those of simunix itself; [] if gdb is
    missing or fails.
    """
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
    """Return the stack frames in gdb's output: functions with arguments, and their places in the source."""
    frames: list[str] = []
    for line in text.splitlines():
        match = _FRAME.match(line)
        if match is None or OWN.search(line) or match[1].startswith(OF_INTERPRETERS):
            continue
        frames.append(match[1].strip()[:120])
    return frames[:MOST_FRAMES]
