"""Reads pages into the page cache of a host: pages that programs want, and further pages that are read ahead.

Linux reads ahead as well (mm/readahead.c). A program that reads a file from its beginning, or goes on after the last read,
gets a window of pages that grows up to 128 KiB. When the program reaches the window's marker, the next window is read
as well; the program waits for that window only when it wants the window's pages. There is one window for each file,
where Linux has one for each open file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rsg_server.storage.counts import IoCounts
from rsg_server.storage.pages import PAGE_BYTES, CachedFile, PageCache
from rsg_server.storage.window import Flight

Ended = Callable[[int], object]
Ranges = list[tuple[int, int]]


class Disks(Protocol):
    """The part of one host's storages that reading uses."""

    def read(self, disk: int, file: int, pages: Ranges, done: Ended, /) -> None: ...


class Reader:
    """Reads pages of files into the page cache of one host, and adds what is read to `counts`."""

    def __init__(self, disks: Disks, cache: PageCache, counts: IoCounts | None = None) -> None:
        self._disks = disks
        self._cache = cache
        self._counts = counts or IoCounts()

    def read(self, key: int, disk: int, first: int, end: int, last: int) -> Callable[[Ended], None] | None:
        """Read a range of pages for a program, from a file that ends before the page `last`.

        Returns the wait of the program: a function that calls its argument with 0 or an errno at the end; None if the
        program need not wait.
        """
        missing = self._cache.read(key, disk, first, end)
        file = self._cache.find(key)
        if file is None:
            return None
        window = file.window
        follows = window.follows(first, end)
        flights = [flight for flight in file.flights if flight.has(first, end)]
        if missing and follows and last > end:
            missing = _joined(missing, self._cache.read(key, disk, end, max(end, min(last, window.begin(first, end)))))
        elif missing:
            window.marker, window.end = -1, end
        is_due = first <= window.marker < end
        if is_due and not missing:
            self._read_ahead(file, last)
        if not missing and not flights:
            return None

        def wait(ended: Ended) -> None:
            self._wait(file, missing, flights, ended, last if is_due and missing else 0)

        return wait

    def ahead(self, key: int, disk: int, first: int, end: int) -> None:
        """Begin to read a range of a file into the cache, for any later reader (MADV_WILLNEED of madvise(2))."""
        missing = self._cache.read(key, disk, first, end)
        file = self._cache.find(key)
        if missing and file is not None:
            self._start(file, missing)

    def _wait(self, file: CachedFile, missing: Ranges, flights: list[Flight], ended: Ended, last: int) -> None:
        left, failed = len(flights) + bool(missing), 0

        def one_ended(error: int) -> None:
            nonlocal left, failed
            left -= 1
            failed = failed or error
            if not left:
                if last and not failed:
                    self._read_ahead(file, last)
                ended(failed)

        for flight in flights:
            flight.waiters.append(one_ended)
        if missing:
            self._start(file, missing).waiters.append(one_ended)

    def _read_ahead(self, file: CachedFile, last: int) -> None:
        first, end = file.window.advance()
        missing = self._cache.read(file.key, file.disk, first, min(end, last)) if first < last else []
        if missing:
            self._start(file, missing)

    def _start(self, file: CachedFile, missing: Ranges) -> Flight:
        flight = Flight(missing[0][0], missing[-1][1])
        file.flights.append(flight)
        self._counts.read_bytes += sum(end - first for first, end in missing) * PAGE_BYTES

        def done(error: int) -> None:
            file.flights.remove(flight)
            if error:
                self._cache.drop(file.key)
            for waiter in flight.waiters:
                waiter(error)

        self._disks.read(file.disk, file.key, missing, done)
        return flight


def _joined(ranges: Ranges, behind: Ranges) -> Ranges:
    """Join each range with the range that lies behind it; two ranges that meet become one."""
    if ranges and behind and ranges[-1][1] == behind[0][0]:
        return [*ranges[:-1], (ranges[-1][0], behind[0][1]), *behind[1:]]
    return [*ranges, *behind]
