"""Counts how many bytes each link carries in each interval of virtual time, and writes them to a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from rsg_server.platform.host import Host
from rsg_server.platform.link import Route
from rsg_server.whole_files import whole_file

NS = 10**9
COLUMNS = ("time", "link", "bytes", "rate", "utilisation")
"""The columns: start of the interval (s), link's name, bytes, bytes per second, and the part of the link's bandwidth
that was used.

The bandwidth is that of the first use in the interval.
"""


class Routes(Protocol):
    """The part of a network that is used here: the route between two hosts."""

    def route(self, source: Host, destination: Host, /) -> Route: ...


class LinkUsage:
    """Counts bytes per link and interval. The object observes the traffic of sockets as a rsg_server.sockets.wire.Watcher.

    Traffic within a host does not count.
    """

    def __init__(self, network: Routes, interval_ns: int, now_ns: Callable[[], int]) -> None:
        self._network = network
        self._interval_ns = interval_ns
        self._now_ns = now_ns
        self._bytes: dict[tuple[int, str], int] = {}  # by number of the interval and name of the link
        self._bandwidth: dict[tuple[int, str], float] = {}

    def moved(self, source: Host, destination: Host, begin_ns: int, end_ns: int, size_bytes: int) -> None:
        """Count bytes that left their source evenly between two moments (virtual ns), for each link of the route."""
        if source is destination:
            return
        links = self._network.route(source, destination).links
        for index, part in split(begin_ns, end_ns, size_bytes, self._interval_ns):
            for link in links:
                key = (index, link.name)
                self._bytes[key] = self._bytes.get(key, 0) + part
                self._bandwidth.setdefault(key, link.bandwidth_bytes_per_s)

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yield a row for each interval and link, by time, then by name. The run may end before the last interval does."""
        end_ns = self._now_ns()
        for key in sorted(self._bytes):
            index, name = key
            begin_ns = index * self._interval_ns
            lasted_s = min(self._interval_ns, max(end_ns - begin_ns, 1)) / NS
            rate = self._bytes[key] / lasted_s
            yield f"{begin_ns / NS:.9g}", name, self._bytes[key], f"{rate:.6g}", f"{rate / self._bandwidth[key]:.6g}"

    def write(self, path: Path) -> None:
        """Write the CSV file: a line with the names of the columns, then the rows."""
        with whole_file(path) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(self.rows())


def split(begin_ns: int, end_ns: int, size_bytes: int, interval_ns: int) -> Iterator[tuple[int, int]]:
    """Divide bytes that move evenly between two moments among intervals. Yield (number of the interval, bytes).

    The bytes add up to the whole.
    """
    first, last = begin_ns // interval_ns, max(begin_ns, end_ns - 1) // interval_ns
    done = 0
    for index in range(first, last + 1):
        until = size_bytes
        if index < last:
            until = size_bytes * ((index + 1) * interval_ns - begin_ns) // (end_ns - begin_ns)
        if until > done or first == last:
            yield index, until - done
        done = until
