"""What one process has had storages do, as /proc/PID/io tells it (proc(5))."""

from __future__ import annotations

from dataclasses import dataclass

from rsg_server.platform.disk import Direction


@dataclass(slots=True)
class IoCounts:
    """Bytes that were read for a process, that it has made dirty, and those of these that were cut off before a write.

    As on Linux, reading ahead counts for the process that has caused it, and writing where pages become dirty, or past the page
    cache; whoever writes them back.
    """

    read_bytes: int = 0
    write_bytes: int = 0
    cancelled_write_bytes: int = 0

    def add(self, direction: int, size_bytes: int) -> None:
        """Count what goes past the page cache."""
        if direction == Direction.READ:
            self.read_bytes += size_bytes
        else:
            self.write_bytes += size_bytes
