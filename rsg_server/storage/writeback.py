"""Writes dirty pages to the storages of a host, as Linux writes them back.

For each disk one flusher writes a piece of a file after the other, and begins with the file that has been dirty for
longest. The flusher writes while more than a tenth of the memory is dirty (vm.dirty_background_ratio). Every 5 s
(vm.dirty_writeback_centisecs) it also writes pages that have been dirty for 30 s (vm.dirty_expire_centisecs). A program
that writes while more than a fifth of the memory is dirty waits until less is dirty (vm.dirty_ratio). fsync(2) writes
the dirty pages of its file, and waits for pages of the file that the flusher and other fsyncs are writing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from rsg_server.storage.pages import FAR, PAGE_BYTES, CachedFile, PageCache

PIECE_PAGES = 1024
EXPIRE_NS = 30 * 10**9
PERIOD_NS = 5 * 10**9
BACKGROUND_PART, LIMIT_PART = 10, 5
Done = Callable[[], object]


def count_pages(ranges: list[tuple[int, int]]) -> int:
    """Return the number of pages in ranges."""
    return sum(end - first for first, end in ranges)


def after_all(done: Done, count: int) -> Done:
    """Return a function that calls `done` when it has been called `count` times."""
    left = count

    def one_done() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            done()

    return one_done


class Disks(Protocol):
    """The part of one host's storages that writing back uses."""

    @property
    def now_ns(self) -> int: ...
    def at(self, moment_ns: int, action: Done, /) -> object: ...
    def write(self, disk: int, file: int, pages: list[tuple[int, int]], done: Callable[[int], object], /) -> None: ...


class Flusher:
    """Writes dirty pages to one disk. `waiters` wait for the piece that is being written."""

    def __init__(self) -> None:
        self.file: CachedFile | None = None
        self.pages = 0
        self.waiters: list[Done] = []
        self.is_due = False  # whether a later look at the dirty pages is planned


class Batch:
    """Pages of a file that one fsync(2) writes. `waiters` are other calls that want some of these pages written."""

    def __init__(self, disk: int, pages: list[tuple[int, int]]) -> None:
        self.disk = disk
        self.pages = pages
        self.waiters: list[Done] = []

    def has(self, first: int, end: int) -> bool:
        """Whether the batch writes pages of a range."""
        return any(low < end and first < high for low, high in self.pages)


class Writeback:
    """The flushers of one host, and the writers that wait for them."""

    def __init__(self, disks: Disks, memory_bytes: int) -> None:
        self._disks = disks
        self.cache = PageCache(memory_bytes)
        self._background = memory_bytes // BACKGROUND_PART // PAGE_BYTES
        self._limit = memory_bytes // LIMIT_PART // PAGE_BYTES
        self._flushers: dict[int, Flusher] = {}
        self._batches: dict[int, list[Batch]] = {}  # batches of fsync(2) that are being written, by file
        self._throttled: list[Done] = []
        self._errors: dict[int, int] = {}  # the errno that the next fsync(2) of a file returns, by file
        self.dirty = 0  # the number of pages that are dirty, or being written
        self.dirtied = 0  # the number of pages that have become dirty so far, or were written through

    # Calls of programs

    def wrote(self, key: int, disk: int, first: int, end: int) -> bool:
        """Note that a program has written a range of pages; return whether the program has to wait until less is dirty."""
        fresh = self.cache.write(key, disk, first, end, self._disks.now_ns)
        self.dirty += fresh
        self.dirtied += fresh
        self._look(disk)
        return self.dirty > self._limit

    def wrote_through(self, key: int, disk: int, first: int, end: int) -> None:
        """Note that a program writes a range of pages to the disk itself: the pages are then in the cache, and not dirty."""
        self.cache.read(key, disk, first, end)
        gone = self.cache.written(key, first, end)
        self.dirtied += end - first - gone
        self._gone(gone)

    def has_dirty(self, disk: int) -> bool:
        """Whether any page of a disk is dirty, or being written."""
        flusher = self._flushers.get(disk)
        is_flushed = flusher is not None and flusher.file is not None
        return self.cache.oldest(disk) is not None or is_flushed or next(self._batches_of(disk), None) is not None

    def _batches_of(self, disk: int) -> Iterator[Batch]:
        return (batch for batches in self._batches.values() for batch in batches if batch.disk == disk)

    def dirty_disks(self) -> list[int]:
        """Return the disks with pages that are dirty or being written."""
        return [disk for disk in sorted(self._flushers) if self.has_dirty(disk)]

    def wait_for_room(self, done: Done) -> None:
        """Call `done` once fewer pages than the limit are dirty."""
        self._throttled.append(done)

    def is_dirty(self, key: int, disk: int, first: int = 0, end: int = FAR) -> bool:
        """Whether fsync(2) of a file, or msync(2) of a range of its pages, would have to wait."""
        file = self.cache.find(key)
        is_ours = file is not None and (file.dirty.among(first, end) > 0 or self._is_at(file, disk))
        return is_ours or bool(self._written_by_others(key, first, end))

    def _written_by_others(self, key: int, first: int, end: int) -> list[Batch]:
        return [batch for batch in self._batches.get(key, ()) if batch.has(first, end)]

    def sync(self, key: int, disk: int, done: Done, first: int = 0, end: int = FAR) -> None:
        """Write the dirty pages in a range of a file.

        `done` is called when these pages are written, also those that other calls are writing.
        """
        file = self.cache.find(key)
        queues = [batch.waiters for batch in self._written_by_others(key, first, end)]
        if file is not None and self._is_at(file, disk):
            queues.append(self._flushers[disk].waiters)
        if taken := self.cache.clean_within(file, first, end) if file is not None else []:
            queues.append(self._write_batch(key, disk, taken).waiters)
        one_done = after_all(done, max(1, len(queues)))
        for waiters in queues:
            waiters.append(one_done)
        if not queues:
            self._disks.at(self._disks.now_ns, one_done)

    def _write_batch(self, key: int, disk: int, pages: list[tuple[int, int]]) -> Batch:
        batch = Batch(disk, pages)
        self._batches.setdefault(key, []).append(batch)

        def written(error: int) -> None:
            self._batches[key].remove(batch)
            if not self._batches[key]:
                del self._batches[key]
            self._note(key, error)
            self._gone(count_pages(pages))
            for waiter in batch.waiters:
                waiter()

        self._disks.write(disk, key, pages, written)
        return batch

    def sync_all(self, disks: list[int], done: Done) -> None:
        """Write all dirty pages of some disks, file after file on each, all disks at the same time; then call `done`."""
        one_done = after_all(done, len(disks))
        for disk in disks:
            self._sync_disk(disk, one_done)

    def _sync_disk(self, disk: int, done: Done) -> None:
        file = self.cache.oldest(disk)
        flusher = self._flushers.get(disk)
        if file is not None:
            self.sync(file.key, disk, lambda: self._sync_disk(disk, done))
        elif flusher is not None and flusher.file is not None:
            flusher.waiters.append(lambda: self._sync_disk(disk, done))
        elif (batch := next(self._batches_of(disk), None)) is not None:
            batch.waiters.append(lambda: self._sync_disk(disk, done))
        else:
            self._disks.at(self._disks.now_ns, done)

    def _note(self, key: int, error: int) -> None:
        if error:
            self._errors[key] = error

    def take_error(self, key: int) -> int:
        """Return the errno of a failed write of pages of a file, once; if there was no error, or on the next call, return 0."""
        return self._errors.pop(key, 0)

    def cut(self, key: int, end: int) -> int:
        """Remove the pages of a file from `end` on; return how many dirty pages were removed.

        With `end` 0 the file was removed, or is a new file with the number of a removed one.
        """
        gone = self.cache.cut(key, end)
        self._gone(gone)
        return gone

    def lose(self) -> None:
        """Forget all pages and all waiting programs, because the power of the host was cut."""
        self.cache = PageCache(0)
        self._throttled = []

    # Steps of the flushers

    def _is_at(self, file: CachedFile, disk: int) -> bool:
        flusher = self._flushers.get(disk)
        return flusher is not None and flusher.file is file

    def _look(self, disk: int) -> None:
        """Let the flusher of a disk write if the rules above demand it; else plan the next look."""
        flusher = self._flushers.setdefault(disk, Flusher())
        file = self.cache.oldest(disk)
        if flusher.file is not None or file is None:
            return
        now_ns, expires_ns = self._disks.now_ns, file.dirtied_ns + EXPIRE_NS
        if self.dirty > self._background or expires_ns <= now_ns:
            self._write(disk, flusher, file)
        elif not flusher.is_due:
            flusher.is_due = True
            self._disks.at(-(-expires_ns // PERIOD_NS) * PERIOD_NS, lambda: self._look_again(disk, flusher))

    def _look_again(self, disk: int, flusher: Flusher) -> None:
        flusher.is_due = False
        self._look(disk)

    def _write(self, disk: int, flusher: Flusher, file: CachedFile) -> None:
        flusher.file = file
        piece = self.cache.clean(file, PIECE_PAGES)
        flusher.pages = count_pages(piece)
        self._disks.write(disk, file.key, piece, lambda error: self._piece_done(disk, flusher, error))

    def _piece_done(self, disk: int, flusher: Flusher, error: int) -> None:
        if flusher.file is not None:
            self._note(flusher.file.key, error)
        flusher.file, pages = None, flusher.pages
        waiters, flusher.waiters = flusher.waiters, []
        self._gone(pages)
        self._look(disk)
        for waiter in waiters:
            waiter()

    def _gone(self, pages: int) -> None:
        """Count pages that are no longer dirty, and let writers go on."""
        self.dirty -= pages
        if self.dirty <= self._limit and self._throttled:
            throttled, self._throttled = self._throttled, []
            for done in throttled:
                done()
