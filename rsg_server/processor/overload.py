"""Finds hosts on which more threads wanted to compute than there are cores, for long, and which programs these were.

Virtual time is divided into windows of ten minutes. A host is oversubscribed in a window if, for nine tenths of it,
more executions wanted to compute than it has cores. Shorter gaps do not count, since a thread computes nothing between
two charges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

NS: Final = 10**9
WINDOW_NS: Final = 600 * NS
LEAST_PARTS: Final = 9, 10
SHOWN: Final = 5


class Overload:
    """The windows of one host. `tell` is called with the warning for the user, once."""

    def __init__(self, host: str, cores: int, tell: Callable[[str], None]) -> None:
        self.windows = 0  # the number of windows in which the host was oversubscribed
        self.since_ns = -1  # when the first of these windows began
        self._host, self._cores, self._tell = host, cores, tell
        self._count = 0  # executions that compute or wait for a core
        self._running: dict[str, int] = {}  # the number of these executions by program
        self._begun_ns = 0  # measured in this window, as are the following fields
        self._over_ns = 0
        self._wanted: dict[str, int] = {}  # ns by program, summed over its executions
        self._wanted_over: Counter[str] = Counter()  # ns by program, over all windows in which the host was oversubscribed

    def begin(self, program: str) -> None:
        """Note that an execution of a program computes, or waits for a core, from now on."""
        self._count += 1
        self._running[program] = self._running.get(program, 0) + 1

    def end(self, program: str) -> None:
        """Note that an execution of a program neither computes nor waits for a core any more."""
        self._count -= 1
        left = self._running.pop(program) - 1
        if left:
            self._running[program] = left

    def pass_time(self, now_ns: int, elapsed_ns: int) -> None:
        """Record that time has passed up to now."""
        if not elapsed_ns:
            return
        at_ns, is_over = now_ns - elapsed_ns, self._count > self._cores
        while now_ns >= (end_ns := self._begun_ns + WINDOW_NS):
            self._account(end_ns - at_ns, is_over)
            self._close()
            at_ns = end_ns
            if not is_over:  # the host was not oversubscribed from that window up to now
                self._begun_ns = at_ns = max(at_ns, now_ns - now_ns % WINDOW_NS)
        self._account(now_ns - at_ns, is_over)

    def _account(self, elapsed_ns: int, is_over: bool) -> None:
        for program, count in self._running.items():
            self._wanted[program] = self._wanted.get(program, 0) + count * elapsed_ns
        if is_over:
            self._over_ns += elapsed_ns

    def _close(self) -> None:
        """Decide whether the host was oversubscribed in the window that is over, and begin the next window."""
        most, all_parts = LEAST_PARTS
        if self._over_ns * all_parts >= WINDOW_NS * most:
            self.windows += 1
            self._wanted_over.update(self._wanted)
            if self.windows == 1:
                self.since_ns = self._begun_ns
                self._tell(self._text())
        self._begun_ns += WINDOW_NS
        self._over_ns = 0
        self._wanted.clear()

    def shares(self) -> dict[str, float]:
        """Return each program's part of the CPU time that was wanted while the host was oversubscribed, the largest first."""
        total = self._wanted_over.total()
        order = sorted(self._wanted_over.items(), key=lambda entry: (-entry[1], entry[0]))
        return {program: round(ns / total, 3) for program, ns in order}

    def _text(self) -> str:
        shares = list(self.shares().items())
        users = ", ".join(f"{program} {100 * part:.0f} %" for program, part in shares[:SHOWN])
        more = f" and {len(shares) - SHOWN} more programs" if len(shares) > SHOWN else ""
        cores = "core" if self._cores == 1 else f"{self._cores} cores"
        since_s, minutes = self._begun_ns // NS, WINDOW_NS // NS // 60
        return (
            f"host {self._host}: from {since_s} s on, for {minutes} minutes and more, more threads want to compute than its "
            f"{cores} can run: {users}{more}; give it more cores (hosts: cores), or let less compute there"
        )
