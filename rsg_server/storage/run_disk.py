"""The disk of this computer that contains the files which the hosts of a run write. When this disk is full, the run ends.

The emulated program does not get the error: the program would take the disk of its host for full, which the scenario
does not say. Storages whose capacity is used up are a different case (rsg_server/storage/room.py).
"""

from __future__ import annotations

import os
from pathlib import Path

from rsg_server.errors import ServerError

FULL_BYTES = 4 << 20
"""A file system with less free room (bytes) than this counts as full, since file systems reserve some room for themselves."""
MEND = "free some space, or choose another folder with --out"


class RunDisk:
    """The file system of a run's `folder`.

    Without a folder (a program that runs in the foreground), the disk counts as never full.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def no_room(self, who: str, now_ns: int, is_stored: bool) -> None:
        """Handle a write of a program for which the kernel had no room. Raises ServerError if the disk of the run is full.

        Content of storages (`is_stored`) is on this disk. For other files the free room of the disk decides.
        """
        if self._folder is not None and (is_stored or _is_full(self._folder)):
            when = f"{now_ns / 1e9:.3f} s"
            raise ServerError(f"{self._folder}: the disk of the run is full: {who} could not write at {when}; {MEND}")


def _is_full(folder: Path) -> bool:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize < FULL_BYTES or (status.f_files > 0 and status.f_favail == 0)
