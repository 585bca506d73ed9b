"""Counts what one process has read from storages and written to them, as /proc/PID/io shows it (proc(5))."""

from __future__ import annotations

from dataclasses import dataclass

from rsg_server.platform.disk import Direction


@dataclass(slots=True)
class IoCounts:
    """Bytes that were read for a process, bytes that the process has made dirty, and dirty bytes that were cut off
    before they were written.

    As on Linux, bytes that are read ahead count for the process whose read has caused this. Writing counts when the
    process makes pages dirty, or writes past the page cache, whichever process writes the pages back.
    """

    read_bytes: int = 0
    write_bytes: int = 0
    cancelled_write_bytes: int = 0

    def add(self, direction: int, size_bytes: int) -> None:
        """Count bytes that go past the page cache."""
        if direction == Direction.READ:
            self.read_bytes += size_bytes
        else:
            self.write_bytes += size_bytes
