"""The doorbell: the futex that an actor rings after each message that it sends in its turn."""

from __future__ import annotations

from typing import Any, Final

from rsg_server._native import lib
from rsg_server.protocol import PAGE_FIELDS

_DOORBELL: Final = PAGE_FIELDS["doorbell"]
_HALF: Final = 0xFFFFFFFF
"""A futex has 32 bits: the lower half of the word."""


class Doorbell:
    """Counts its rings, which the shims write."""

    def __init__(self, words: memoryview, address: Any) -> None:
        self._words = words
        self._address = address

    @property
    def rings(self) -> int:
        """How often the doorbell has been rung."""
        rings: int = self._words[_DOORBELL]
        return rings

    def wait(self, rings: int, patience_ns: int) -> None:
        """Wait until the doorbell has been rung more often than so many times, or until some real time has passed."""
        lib.doorbell_wait(self._address, rings & _HALF, patience_ns)

    def close(self) -> None:
        """Forget where the memory was."""
        self._address = None
