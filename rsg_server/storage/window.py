"""How far a file is read ahead, and pages of it that are on their way; see rsg_server/storage/reading.py."""

from __future__ import annotations

from collections.abc import Callable

MOST_PAGES = 32
"""read_ahead_kb is 128."""
Ended = Callable[[int], object]


class Window:
    """What is read ahead of one file: up to before `end`, the latest time `size` pages."""

    __slots__ = ("_next", "end", "marker", "size")

    def __init__(self) -> None:
        self._next = 0
        self.size = 0
        self.end = 0
        self.marker = -1  # who reads this page has the next window read

    def follows(self, first: int, end: int) -> bool:
        """Whether a read goes on where the last one has ended, or begins the file; the next one is to go on from here."""
        is_next = first in (0, self._next, self._next - 1)
        self._next = end
        return is_next

    def begin(self, first: int, end: int) -> int:
        """Begin anew with what is wanted; returns where to end."""
        wanted = end - first
        size = 1 << (wanted - 1).bit_length()
        self.size = min(MOST_PAGES, size * (4 if size <= MOST_PAGES // 32 else 2 if size <= MOST_PAGES // 4 else 1))
        self.end = max(end, first + self.size)
        self.marker = min(end, self.end - self.size // 2)
        return self.end

    def advance(self) -> tuple[int, int]:
        """The next window."""
        self.size = min(MOST_PAGES, self.size * (4 if self.size < MOST_PAGES // 16 else 2))
        first = self.marker = self.end
        self.end = first + self.size
        return first, self.end


class Flight:
    """Pages that are being read, and who waits for them."""

    __slots__ = ("_end", "_first", "waiters")

    def __init__(self, first: int, end: int) -> None:
        self._first = first
        self._end = end
        self.waiters: list[Ended] = []

    def has(self, first: int, end: int) -> bool:
        """Whether some page of a range is on its way."""
        return first < self._end and self._first < end
