"""The disk of this computer on which a run keeps what its hosts write. When it becomes full, the run ends.

An emulated program cannot be left with the error: it would take the disk of its host for full, which the scenario has not made
so. Storages whose capacity is used up are another matter (rsg_server/storage/room.py).
"""

from __future__ import annotations

import os
from pathlib import Path

from rsg_server.errors import ServerError

FULL_BYTES = 4 << 20
"""With less room than this a file system is full: it may keep some for itself."""
MEND = "free some space, or choose another folder with --out"


class RunDisk:
    """The file system of a run's `folder`. Without a folder it is never full, as programs in the foreground want it."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def no_room(self, who: str, now_ns: int, is_stored: bool) -> None:
        """The kernel had no room for what somebody wanted to write. Raises ServerError if the disk of the run is full.

        What is on a storage (`is_stored`) is on this disk. Of other files the disk tells by how much room it has left.
        """
        if self._folder is not None and (is_stored or _is_full(self._folder)):
            when = f"{now_ns / 1e9:.3f} s"
            raise ServerError(f"{self._folder}: the disk of the run is full: {who} could not write at {when}; {MEND}")


def _is_full(folder: Path) -> bool:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize < FULL_BYTES or (status.f_files > 0 and status.f_favail == 0)
