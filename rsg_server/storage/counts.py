"""What storages have done for one process, as /proc/PID/io shows it (proc(5))."""

from __future__ import annotations

from dataclasses import dataclass

from rsg_server.platform.disk import Direction


@dataclass(slots=True)
class IoCounts:
    """Bytes that were read for a process, bytes that it has made dirty, and those of the latter that were cut off unwritten.

    As on Linux, reading ahead counts for the process that has caused it. Writing counts when the process makes pages dirty,
    or writes past the page cache, whichever process writes the pages back.
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
