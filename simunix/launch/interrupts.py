"""Make Ctrl-C, SIGTERM and SIGHUP end a run in good order, without an exception.

Python ignores exceptions in some places, for example in `__del__` and in functions that run at a fork. If a signal
raised an exception there, the exception would be lost, and the run would never end.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that end a run in good order: results are written, and no process or mount is left behind."""


class Interrupted(KeyboardInterrupt):
    """The exception that a signal has ended the run."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = exit_code(number)


def exit_code(number: int) -> int:
    """Return the exit code that a shell reports for a program that this signal has ended."""
    return 128 + number


REPEATED_S = 1.0
"""Signals within this many real seconds after the first one count as one request: a service manager signals a whole
process group, and then each process.
"""
CLOSING_S = 30.0
"""For this many real seconds after the end of a run, signals are ignored so that the results can be written. A later
signal ends the process.
"""


class Interrupts:
    """While its context is entered, the first signal is noted and reported to the function given to `tell`; a later
    signal raises Interrupted.
    """

    def __init__(self) -> None:
        self._patience_s = REPEATED_S
        self._since = 0.0
        self._before: dict[int, Any] = {}
        self._wish: Callable[[], None] | None = None
        self._number = 0

    @property
    def came(self) -> bool:
        """Whether a signal has been received."""
        return self._number != 0

    def tell(self, wish: Callable[[], None]) -> None:
        """Call `wish` when a signal is received, from the signal's handler. If a signal has been received already, call
        `wish` at once.
        """
        self._wish = wish
        if self.came:
            wish()

    def close(self) -> None:
        """Note that the run has ended: from now on the results are written before a signal can end the process."""
        self._patience_s = CLOSING_S
        self._since = time.monotonic()

    @property
    def code(self) -> int:
        """The exit code for the received signal; 0 if none has been received."""
        return exit_code(self._number) if self.came else 0

    def check(self) -> None:
        """Raise Interrupted if a signal has been received."""
        if self.came:
            raise Interrupted(self._number)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in HEARD:
                # a shell ignores SIGINT for its background jobs, and nohup ignores SIGHUP
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self.came and time.monotonic() - self._since > self._patience_s:
            raise Interrupted(number)
        if not self.came:
            self._number, self._since = number, time.monotonic()
        if self._wish is not None:
            self._wish()
