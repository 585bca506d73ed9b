"""The journal in shared memory: what shims have handed the turn on to other processes with, for the server to read."""

from __future__ import annotations

from typing import Any

from rsg_server._native import lib
from rsg_server.protocol import JOURNAL_MAX


class Journal:
    """Entries (struct simunix_handoff) in the order in which the waits began, or ended, of which they tell."""

    def __init__(self, address: Any) -> None:
        self._address = address

    def take(self) -> list[Any]:
        """Take all entries out; a count that cannot be is that of a full journal."""
        timer_queue = lib.timer_queue_of(self._address)
        count, timer_queue.journal_count = min(timer_queue.journal_count, JOURNAL_MAX), 0
        return [timer_queue.journal[place] for place in range(count)]

    def close(self) -> None:
        """Forget where the memory was."""
        self._address = None
