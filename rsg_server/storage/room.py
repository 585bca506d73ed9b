"""How full storages are: the files below the folders that hold what is kept on them.

A file takes its size in whole blocks, also where it has holes; a file of several names counts once. Folders and links take
nothing; nor does what has been removed, even while it is open. Nothing is kept for each file: the folders are looked through
when somebody asks, and, for writers, when all that they have asked for since the last look might not fit.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

BLOCK_BYTES = 4096


def _files(folder: str) -> Iterator[os.stat_result]:
    """All regular files below a folder."""
    try:
        entries = [*os.scandir(folder)]
    except OSError:  # removed, or another user's
        return
    for entry in entries:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from _files(entry.path)
        elif stat.S_ISREG(status.st_mode):
            yield status


def used_bytes(folders: list[Path]) -> int:
    """What the files below these folders take."""
    sizes: dict[tuple[int, int], int] = {}
    for folder in folders:
        for status in _files(str(folder)):
            sizes[status.st_dev, status.st_ino] = -(-status.st_size // BLOCK_BYTES) * BLOCK_BYTES
    return sum(sizes.values())


class Room:
    """The room of one storage that has a capacity. No more than `_most_bytes` are used."""

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self.folders: list[Path] = []
        self._most_bytes = capacity_bytes

    def look(self) -> int:
        """What is used, now."""
        self._most_bytes = used_bytes(self.folders)
        return self._most_bytes

    def take(self, wanted_bytes: int) -> int:
        """How many bytes there is room for, of those that a writer wants; the writer takes them."""
        whole_bytes = self.capacity_bytes // BLOCK_BYTES * BLOCK_BYTES
        if self._most_bytes + wanted_bytes > whole_bytes:
            self.look()
        granted = max(0, min(wanted_bytes, whole_bytes - self._most_bytes))
        self._most_bytes += granted
        return granted
