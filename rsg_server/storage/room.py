"""How full storages are: adds up the files below the folders whose content is on a storage.

A file takes its size in whole blocks, also if it has holes; a file with several names counts once. Folders, links and
removed files take nothing, even while a removed file is open. The server keeps no record of each file. The server looks
through the folders when a program asks how full the storage is. For a write, the server looks only when the bytes that
all writers have asked for since the last look might not fit.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

BLOCK_BYTES = 4096


def _files(folder: str) -> Iterator[os.stat_result]:
    """Yield all regular files below a folder."""
    try:
        entries = [*os.scandir(folder)]
    except OSError:  # the folder was removed, or belongs to another user
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
    """Return how many bytes the files below these folders take."""
    sizes: dict[tuple[int, int], int] = {}
    for folder in folders:
        for status in _files(str(folder)):
            sizes[status.st_dev, status.st_ino] = -(-status.st_size // BLOCK_BYTES) * BLOCK_BYTES
    return sum(sizes.values())


class Room:
    """The room of one storage that has a capacity. The used bytes are `_most_bytes` at most."""

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self.folders: list[Path] = []
        self._most_bytes = capacity_bytes

    def look(self) -> int:
        """Return how many bytes are used now."""
        self._most_bytes = used_bytes(self.folders)
        return self._most_bytes

    def take(self, wanted_bytes: int) -> int:
        """Reserve room for a writer; returns how many of the wanted bytes the writer may write."""
        whole_bytes = self.capacity_bytes // BLOCK_BYTES * BLOCK_BYTES
        if self._most_bytes + wanted_bytes > whole_bytes:
            self.look()
        granted = max(0, min(wanted_bytes, whole_bytes - self._most_bytes))
        self._most_bytes += granted
        return granted
