"""The page cache of a host: which pages of files are in it, and which of these are dirty (written by a program, and not
yet to the storage).

Pages are numbered from the beginning of their file. Files are known by numbers of the kernel's, which differ from run to
run: no order in this file depends on these numbers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from rsg_server.storage.window import Flight, Window

PAGE_BYTES = 4096
FAR = 1 << 62
"""A page number behind the last page of any file."""


def pages_of(first: int, end: int) -> tuple[int, int]:
    """Return the pages that contain the bytes of a range, up to before the second one."""
    return first // PAGE_BYTES, -(-end // PAGE_BYTES)


def pages_or_all(first: int, end: int) -> tuple[int, int]:
    """Return the pages of a range of bytes; of an empty range all pages of the file."""
    return pages_of(first, end) if first < end else (0, FAR)


class Pages:
    """A set of page numbers, stored as the edges of its ranges: from, to, from, to … in ascending order."""

    __slots__ = ("_edges", "count")

    def __init__(self) -> None:
        self._edges: list[int] = []
        self.count = 0

    def among(self, first: int, end: int) -> int:
        """Return how many pages of a range, up to before `end`, are in the set."""
        edges, found = self._edges, 0
        at = bisect_right(edges, first) // 2 * 2
        while at < len(edges) and edges[at] < end:
            found += max(0, min(end, edges[at + 1]) - max(first, edges[at]))
            at += 2
        return found

    def add(self, first: int, end: int) -> int:
        """Add a range; returns how many pages of the range were not in the set."""
        edges, fresh = self._edges, end - first - self.among(first, end)
        low, high = bisect_left(edges, first), bisect_right(edges, end)
        edges[low:high] = [first] * (low % 2 == 0) + [end] * (high % 2 == 0)
        self.count += fresh
        return fresh

    def remove(self, first: int, end: int) -> int:
        """Remove a range; returns how many pages of the range were in the set."""
        edges, gone = self._edges, self.among(first, end)
        low, high = bisect_left(edges, first), bisect_right(edges, end)
        edges[low:high] = [first] * (low % 2 == 1) + [end] * (high % 2 == 1)
        self.count -= gone
        return gone

    def missing(self, first: int, end: int) -> list[tuple[int, int]]:
        """Return the parts of a range that are not in the set."""
        edges, found = self._edges, []
        at = bisect_right(edges, first) // 2 * 2
        while at < len(edges) and edges[at] < end:
            if first < edges[at]:
                found.append((first, edges[at]))
            first = max(first, edges[at + 1])
            at += 2
        return [*found, (first, end)] if first < end else found

    def take_within(self, first: int, end: int) -> list[tuple[int, int]]:
        """Remove a range; returns the ranges of it that were in the set."""
        absent, taken = self.missing(first, end), []
        for low, high in [*absent, (end, end)]:
            if first < low:
                taken.append((first, low))
            first = high
        for low, high in taken:
            self.remove(low, high)
        return taken

    def take(self, most: int) -> list[tuple[int, int]]:
        """Remove the lowest pages, `most` of them at most; returns their ranges."""
        taken = []
        while self._edges and most > 0:
            first, end = self._edges[0], min(self._edges[1], self._edges[0] + most)
            most -= self.remove(first, end)
            taken.append((first, end))
        return taken

    def remove_but(self, others: Pages) -> int:
        """Keep only pages that are also in `others`, a subset; returns how many have gone."""
        gone = self.count - others.count
        self._edges = list(others._edges)
        self.count = others.count
        return gone


class CachedFile:
    """The pages of one file on a disk; `dirtied_ns` is when the first of its dirty pages became dirty."""

    __slots__ = ("cached", "dirtied_ns", "dirty", "disk", "flights", "key", "window")

    def __init__(self, key: int, disk: int) -> None:
        self.key = key
        self.disk = disk
        self.cached = Pages()
        self.dirty = Pages()
        self.dirtied_ns = 0
        self.window = Window()
        self.flights: list[Flight] = []  # unfinished reads, whose pages already count as cached


class PageCache:
    """The pages of all files of a host, as many as its memory holds. Clean pages of the least recently used files go first."""

    def __init__(self, memory_bytes: int) -> None:
        self._most = max(1, memory_bytes // PAGE_BYTES)
        self._files: dict[int, CachedFile] = {}  # the file that was used last is the last entry
        self._dirty: dict[int, dict[int, CachedFile]] = {}  # by disk, then by file, in the order in which they became dirty
        self.count = 0

    def _use(self, key: int, disk: int) -> CachedFile:
        file = self._files.pop(key, None) or CachedFile(key, disk)
        self._files[key] = file
        return file

    def find(self, key: int) -> CachedFile | None:
        """Return a file whose pages are, or were, in the cache; None for an unknown file."""
        return self._files.get(key)

    def read(self, key: int, disk: int, first: int, end: int) -> list[tuple[int, int]]:
        """Put a range of a file into the cache; returns the parts of the range that were not in the cache."""
        file = self._use(key, disk)
        missing = file.cached.missing(first, end)
        if missing:
            self.count += file.cached.add(first, end)
            self._shrink(file)
        return missing

    def drop(self, key: int) -> None:
        """Forget the clean pages of a file."""
        file = self._files.get(key)
        if file is not None:
            self.count -= file.cached.remove_but(file.dirty)

    def forget(self, key: int, first: int, end: int) -> None:
        """Forget the clean pages of a range of a file."""
        file = self._files.get(key)
        if file is not None:
            for low, high in file.dirty.missing(first, end):
                self.count -= file.cached.remove(low, high)

    def write(self, key: int, disk: int, first: int, end: int, now_ns: int) -> int:
        """Put a range into the cache as dirty; returns how many pages of the range were not dirty before."""
        if end <= first:
            return 0
        file = self._use(key, disk)
        self.count += file.cached.add(first, end)
        if not file.dirty.count:
            file.dirtied_ns = now_ns
            self._dirty.setdefault(disk, {})[key] = file
        fresh = file.dirty.add(first, end)
        self._shrink(file)
        return fresh

    def oldest(self, disk: int) -> CachedFile | None:
        """Return the file of a disk that has had dirty pages for the longest time."""
        return next(iter(self._dirty.get(disk, {}).values()), None)

    def clean(self, file: CachedFile, most: int) -> list[tuple[int, int]]:
        """Mark dirty pages of a file as written, the lowest first; returns their ranges."""
        return self._cleaned(file, file.dirty.take(most))

    def clean_within(self, file: CachedFile, first: int, end: int) -> list[tuple[int, int]]:
        """Mark the dirty pages in a range of a file as written; returns their ranges."""
        return self._cleaned(file, file.dirty.take_within(first, end))

    def _cleaned(self, file: CachedFile, taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
        if not file.dirty.count:
            self._dirty.get(file.disk, {}).pop(file.key, None)
        return taken

    def written(self, key: int, first: int, end: int) -> int:
        """Mark a range of a file as written; returns how many of its pages were dirty."""
        file = self._files.get(key)
        gone = file.dirty.remove(first, end) if file is not None else 0
        if file is not None and gone and not file.dirty.count:
            self._dirty[file.disk].pop(key)
        return gone

    def cut(self, key: int, end: int) -> int:
        """Remove the pages of a file from `end` on; returns how many of the removed pages were dirty."""
        file = self._files.get(key)
        if file is None:
            return 0
        gone = self.written(key, end, FAR)
        self.count -= file.cached.remove(end, FAR)
        if not file.cached.count:
            del self._files[key]
        return gone

    def _shrink(self, used: CachedFile) -> None:
        """Remove clean pages, those of the least recently used file first, until the cache fits into the host's memory."""
        emptied = []
        for file in self._files.values():
            if self.count <= self._most:
                break
            self.count -= file.cached.remove_but(file.dirty)
            if not file.cached.count and file is not used:
                emptied.append(file.key)
        for key in emptied:
            del self._files[key]
