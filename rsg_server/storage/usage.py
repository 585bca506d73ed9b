"""Records how many bytes and operations the disks of all hosts move in each interval of virtual time, and writes these
numbers as a CSV file.

There are INTERVALS_MAX intervals at most: when a run grows longer, they become twice as long, so that a run of months needs
no more memory than one of an hour.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rsg_server.platform.disk import PREFIX, Disk
from rsg_server.platform.host import Host
from rsg_server.whole_files import whole_file

NS: Final = 10**9
INTERVALS_MAX: Final = 4096
COLUMNS: Final = ("time", "interval", "storage", "read_bytes", "written_bytes", "operations", "busy", "utilisation")
"""Start and length of the interval (s), HOST/NAME, bytes read and written, operations that ended, seconds in which at
least one was under way, and the used part of the bandwidth: the largest of those of reads, writes and both."""


@dataclass(slots=True)
class Interval:
    """The bytes, operations and busy time of one disk in one interval."""

    read_bytes: float = 0.0
    written_bytes: float = 0.0
    operations: int = 0
    busy_ns: int = 0

    def add(self, other: Interval) -> None:
        """Add the counts of another interval."""
        self.read_bytes += other.read_bytes
        self.written_bytes += other.written_bytes
        self.operations += other.operations
        self.busy_ns += other.busy_ns


class DiskUsage:
    """Counts bytes, operations and busy time of disks, which are identified by the names of their constraints."""

    def __init__(self, hosts: Sequence[Host], interval_ns: int = NS) -> None:
        self.interval_ns = interval_ns
        self._disks: dict[str, Disk] = {f"{host.name}/{disk.name}": disk for host in hosts for disk in host.disks}
        self._intervals: dict[tuple[int, str], Interval] = {}  # by number and disk
        self._active: dict[str, int] = {}
        self._busy_since_ns: dict[str, int] = {}
        self._names: dict[tuple[str, ...], tuple[str, bool]] = {}

    def _disk_of(self, shared: tuple[str, ...]) -> tuple[str, bool]:
        """Return the disk of an operation, and whether it reads, from the names of the constraints that it shares."""
        if shared not in self._names:
            name = next(name for name in shared if name.startswith(PREFIX) and name.removeprefix(PREFIX) in self._disks)
            self._names[shared] = (name.removeprefix(PREFIX), f"{name} reads" in shared)
        return self._names[shared]

    def began(self, shared: tuple[str, ...], now_ns: int) -> None:
        """Count an operation that has begun."""
        disk, _ = self._disk_of(shared)
        count = self._active.get(disk, 0)
        if not count:
            self._busy_since_ns[disk] = now_ns
        self._active[disk] = count + 1

    def ended(self, shared: tuple[str, ...], now_ns: int) -> None:
        """Count an operation that has ended, or was cancelled."""
        disk, _ = self._disk_of(shared)
        self._active[disk] -= 1
        self._at(now_ns, disk).operations += 1
        if not self._active[disk]:
            self._count_busy(disk, now_ns)

    def _count_busy(self, disk: str, now_ns: int) -> None:
        for begin_ns, end_ns in self._parts(self._busy_since_ns[disk], now_ns):
            self._at(begin_ns, disk).busy_ns += end_ns - begin_ns
        self._busy_since_ns[disk] = now_ns

    def moved(self, shared: tuple[str, ...], begin_ns: int, end_ns: int, size_bytes: float) -> None:
        """Count bytes that have moved evenly between two moments."""
        disk, reads = self._disk_of(shared)
        for low_ns, high_ns in self._parts(begin_ns, end_ns):
            part = size_bytes * (high_ns - low_ns) / (end_ns - begin_ns)
            interval = self._at(low_ns, disk)
            if reads:
                interval.read_bytes += part
            else:
                interval.written_bytes += part

    def _at(self, moment_ns: int, disk: str) -> Interval:
        self._coarsen(moment_ns)
        return self._intervals.setdefault((moment_ns // self.interval_ns, disk), Interval())

    def _parts(self, begin_ns: int, end_ns: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of a span of time, cut at the ends of intervals."""
        self._coarsen(end_ns)
        while begin_ns < end_ns:
            cut_ns = min(end_ns, (begin_ns // self.interval_ns + 1) * self.interval_ns)
            yield begin_ns, cut_ns
            begin_ns = cut_ns

    def _coarsen(self, moment_ns: int) -> None:
        """Make intervals so long that at most INTERVALS_MAX of them reach to a moment."""
        while moment_ns >= self.interval_ns * INTERVALS_MAX:
            self.interval_ns *= 2
            halves, self._intervals = self._intervals, {}
            for (number, disk), half in halves.items():
                self._intervals.setdefault((number // 2, disk), Interval()).add(half)

    def rows(self, now_ns: int) -> Iterator[tuple[object, ...]]:
        """Yield a row for each interval and disk, by time, then by name. The end of the run may cut the last interval short."""
        for disk in [disk for disk, count in self._active.items() if count]:
            self._count_busy(disk, now_ns)
        for number, name in sorted(self._intervals):
            interval = self._intervals[number, name]
            begin_ns = number * self.interval_ns
            lasted_s = min(self.interval_ns, max(now_ns - begin_ns, 1)) / NS
            numbers = (round(interval.read_bytes), round(interval.written_bytes), interval.operations)
            busy, used = f"{interval.busy_ns / NS:.9g}", f"{self._used(name, interval, lasted_s):.6g}"
            yield f"{begin_ns / NS:.9g}", f"{lasted_s:.9g}", name, *numbers, busy, used

    def _used(self, name: str, interval: Interval, lasted_s: float) -> float:
        disk = self._disks[name]
        reads, writes = interval.read_bytes / disk.read_bytes_per_s, interval.written_bytes / disk.write_bytes_per_s
        both = (interval.read_bytes + interval.written_bytes) / disk.together_bytes_per_s
        return max(reads, writes, both) / lasted_s

    def write(self, path: Path, now_ns: int) -> None:
        """Write the CSV file: a line with the names of the columns, then the rows."""
        with whole_file(path) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(self.rows(now_ns))
