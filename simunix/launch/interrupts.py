"""Ctrl-C as a wish instead of an exception.

An exception that a signal raises wherever Python happens to be is lost where exceptions are ignored: in what runs at a fork, in
`__del__`. The run would then go on for ever.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self


class Interrupts:
    """While in its context, the first Ctrl-C is only noted, and told to whoever has asked for it; a second one raises."""

    def __init__(self) -> None:
        is_main = threading.current_thread() is threading.main_thread()
        self._in_force = is_main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN  # a shell's background job
        self._wish: Callable[[], None] | None = None
        self.came = False

    def tell(self, wish: Callable[[], None]) -> None:
        """Call `wish`, from the signal's handler, when Ctrl-C comes; at once if it has come."""
        self._wish = wish
        if self.came:
            wish()

    def __enter__(self) -> Self:
        if self._in_force:
            self._before = signal.signal(signal.SIGINT, self._heard)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None) -> None:
        if self._in_force:
            signal.signal(signal.SIGINT, self._before)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
        if self._wish is not None:
            self._wish()
