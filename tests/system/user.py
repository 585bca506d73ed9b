"""A user at a terminal: simunix runs there, the user types, looks at the screen, and changes the terminal's size."""

from __future__ import annotations

import array
import fcntl
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 60.0
"""How long something may take to appear, real time."""
PASTE_MODE = r"\x1b\[\?2004[hl]"
"""By this, readline has the terminal mark what is pasted."""


SIMUNIX = (sys.executable, "-m", "simunix.cli.main")


class User:
    """Simunix, or another `program`, as the leader of a session on a terminal.

    The terminal's inner side stays open here, so that its settings can be looked at.
    """

    def __init__(
        self,
        *words: object,
        program: Sequence[str] = SIMUNIX,
        rows: int = 30,
        columns: int = 100,
        cwd: Path | None = None,
        **variables: str,
    ) -> None:
        self.master, self.slave = os.openpty()
        self.screen = self.shown = ""  # what has not been looked for yet; all
        self.resize(rows, columns)
        self.settings = termios.tcgetattr(self.slave)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "SHELL": "/bin/bash", **variables}
        self.process = subprocess.Popen(
            [*program, *map(str, words)],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env=environment,
            cwd=cwd,
            preexec_fn=_lead,
        )

    def __enter__(self) -> User:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the terminal, as a window manager does."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, array.array("H", [rows, columns, 0, 0]))

    def type(self, keys: str) -> None:
        """Type keys."""
        os.write(self.master, keys.encode())

    def sees(self, text: str, limit_s: float = LIMIT_S) -> str:
        """Wait for a text on the screen; what stood before it. What has been seen is not seen again."""
        end = time.monotonic() + limit_s
        while text not in self.screen:
            assert time.monotonic() < end, f"{text!r} does not appear; the screen ends with {self.screen[-2000:]!r}"
            self._look()
        before, _, self.screen = self.screen.partition(text)
        return before

    def _look(self) -> None:
        if select.select([self.master], [], [], 0.05)[0]:
            new = os.read(self.master, 65536).decode(errors="replace")
            self.screen += new
            self.shown += new

    def says(self, line: str, prompt: str = "# ") -> str:
        """Type a line of a shell, and wait for the next prompt; what the line printed."""
        self.type(line + "\r")
        self.sees(line)
        self.sees("\n")
        return re.sub(PASTE_MODE, "", self.sees(prompt))

    def ends(self) -> int:
        """Wait for the end of simunix; its status as subprocess gives it."""
        end = time.monotonic() + LIMIT_S
        while self.process.poll() is None:
            assert time.monotonic() < end, self.screen[-2000:]
            self._look()
        while select.select([self.master], [], [], 0.1)[0]:
            self._look()
        return self.process.returncode

    def is_as_before(self) -> bool:
        """Whether the terminal has the settings again that it had before simunix."""
        now: list[Any] = termios.tcgetattr(self.slave)
        return now == self.settings


def _lead() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in (signal.SIGINT, signal.SIGTSTP, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
