"""The window of pages that are read ahead of a file, and reads that are under way; see rsg_server/storage/reading.py."""

from __future__ import annotations

from collections.abc import Callable

MOST_PAGES = 32
"""The largest window: 128 KiB, as read_ahead_kb of Linux."""
Ended = Callable[[int], object]


class Window:
    """The pages of one file that were read ahead: all pages before `end`; the latest window had `size` pages."""

    __slots__ = ("_next", "end", "marker", "size")

    def __init__(self) -> None:
        self._next = 0
        self.size = 0
        self.end = 0
        self.marker = -1  # a read of this page starts the read of the next window

    def follows(self, first: int, end: int) -> bool:
        """Return whether a read goes on where the last read has ended, or begins the file; record where this read ends."""
        is_next = first in (0, self._next, self._next - 1)
        self._next = end
        return is_next

    def begin(self, first: int, end: int) -> int:
        """Begin a new window for the wanted pages; returns the end of the window."""
        wanted = end - first
        size = 1 << (wanted - 1).bit_length()
        self.size = min(MOST_PAGES, size * (4 if size <= MOST_PAGES // 32 else 2 if size <= MOST_PAGES // 4 else 1))
        self.end = max(end, first + self.size)
        self.marker = min(end, self.end - self.size // 2)
        return self.end

    def advance(self) -> tuple[int, int]:
        """Move to the next window; returns its first page and its end."""
        self.size = min(MOST_PAGES, self.size * (4 if self.size < MOST_PAGES // 16 else 2))
        first = self.marker = self.end
        self.end = first + self.size
        return first, self.end


class Flight:
    """A read of pages that is under way, and the functions to call when the pages have arrived."""

    __slots__ = ("_end", "_first", "waiters")

    def __init__(self, first: int, end: int) -> None:
        self._first = first
        self._end = end
        self.waiters: list[Ended] = []

    def has(self, first: int, end: int) -> bool:
        """Whether one of the pages in a range is being read."""
        return first < self._end and self._first < end
