"""The doorbell: the futex that shims ring after each message, while the server cannot tell which of them will speak next."""

from __future__ import annotations

from typing import Any, Final

from rsg_server._native import lib
from rsg_server.protocol import PAGE_FIELDS

_DOORBELL: Final = PAGE_FIELDS["doorbell"]
_IS_HEARD: Final = PAGE_FIELDS["listens_at_doorbell"]
_HALF: Final = 0xFFFFFFFF
"""A futex has 32 bits: the lower half of the word."""


class Doorbell:
    """Counts its rings, which the shims write."""

    def __init__(self, words: memoryview, address: Any) -> None:
        self._words = words
        self._address = address

    def listen(self, is_heard: bool) -> int:
        """Have the shims ring from now on, or spare them the call; returns the rings so far."""
        words = self._words
        words[_IS_HEARD] = is_heard
        rings: int = words[_DOORBELL]
        return rings

    @property
    def is_heard(self) -> bool:
        """Whether the shims ring."""
        return self._words[_IS_HEARD] != 0

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
