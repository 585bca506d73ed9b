"""Ctrl-C, SIGTERM and SIGHUP as a request to end the run, instead of an exception.

An exception that a signal raises wherever Python happens to be is lost where exceptions are ignored: in what runs at a fork, in
`__del__`. The run would then go on for ever.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Each ends a run in good order: results are written, nothing is left behind."""


class Interrupted(KeyboardInterrupt):
    """A signal has ended the run."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = exit_code(number)


def exit_code(number: int) -> int:
    """What a shell says of a program that this signal has ended."""
    return 128 + number


REPEATED_S = 1.0
"""Signals that follow the first one so soon are of the same wish: a service manager tells a whole group, then each process."""
CLOSING_S = 30.0
"""So long does a run that has ended write its results, whatever signal comes; after that, a signal cuts it off."""


class Interrupts:
    """While its context is entered, the first such signal is noted and told to the callback of `tell`; a later one raises."""

    def __init__(self) -> None:
        self._patience_s = REPEATED_S
        self._since = 0.0
        self._before: dict[int, Any] = {}
        self._wish: Callable[[], None] | None = None
        self._number = 0

    @property
    def came(self) -> bool:
        """Whether such a signal has come."""
        return self._number != 0

    def tell(self, wish: Callable[[], None]) -> None:
        """Call `wish` from the signal's handler when a signal comes; at once if one has come."""
        self._wish = wish
        if self.came:
            wish()

    def close(self) -> None:
        """The run has ended: from now on, the results are written before a signal ends the process."""
        self._patience_s = CLOSING_S
        self._since = time.monotonic()

    @property
    def code(self) -> int:
        """The exit code that the noted signal asks for; 0 if none has come."""
        return exit_code(self._number) if self.came else 0

    def check(self) -> None:
        """Raise Interrupted if a signal has been noted."""
        if self.came:
            raise Interrupted(self._number)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in HEARD:
                if signal.getsignal(number) is not signal.SIG_IGN:  # ignored for a shell's background job and under nohup
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
