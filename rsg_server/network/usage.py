"""How many bytes each link carries in each interval of virtual time, and the CSV file of that."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import ServerError

if TYPE_CHECKING:
    from rsg_server.network.network import Network
    from rsg_server.platform.host import Host

NS = 10**9
COLUMNS = ("time", "link", "bytes", "rate", "utilisation")
"""Seconds at which the interval begins, name, bytes, bytes per second, part of the bandwidth that the link had then."""


class LinkUsage:
    """Watches the wire (see rsg_server.sockets.wire.Watcher). Only what was used is kept; loopbacks are left out."""

    def __init__(self, network: Network, interval_ns: int, now_ns: Callable[[], int]) -> None:
        self._network = network
        self._interval_ns = interval_ns
        self._now_ns = now_ns
        self._bytes: dict[tuple[int, str], int] = {}  # by interval and link
        self._bandwidth: dict[tuple[int, str], float] = {}

    def moved(self, source: Host, destination: Host, begin_ns: int, end_ns: int, size_bytes: int) -> None:
        """Bytes left their source evenly between two moments; each link of the route carried them then."""
        if source is destination:
            return
        links = self._network.route(source, destination).links
        for index, part in split(begin_ns, end_ns, size_bytes, self._interval_ns):
            for link in links:
                key = (index, link.name)
                self._bytes[key] = self._bytes.get(key, 0) + part
                self._bandwidth.setdefault(key, link.bandwidth_bytes_per_s)

    def rows(self) -> Iterator[tuple[object, ...]]:
        """In the order of time, then of names. The last interval may be cut short by the end of the run."""
        end_ns = self._now_ns()
        for key in sorted(self._bytes):
            index, name = key
            begin_ns = index * self._interval_ns
            lasted_s = min(self._interval_ns, max(end_ns - begin_ns, 1)) / NS
            rate = self._bytes[key] / lasted_s
            yield f"{begin_ns / NS:.9g}", name, self._bytes[key], f"{rate:.6g}", f"{rate / self._bandwidth[key]:.6g}"

    def write(self, path: Path) -> None:
        """The file, with a line of names first."""
        try:
            with path.open("w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(COLUMNS)
                writer.writerows(self.rows())
        except OSError as error:
            raise ServerError(f"{path}: cannot be written: {error.strerror}; free some space") from error


def split(begin_ns: int, end_ns: int, size_bytes: int, interval_ns: int) -> Iterator[tuple[int, int]]:
    """Interval and bytes for each interval that is touched; the parts add up to the whole."""
    first, last = begin_ns // interval_ns, max(begin_ns, end_ns - 1) // interval_ns
    done = 0
    for index in range(first, last + 1):
        until = size_bytes
        if index < last:
            until = size_bytes * ((index + 1) * interval_ns - begin_ns) // (end_ns - begin_ns)
        if until > done or first == last:
            yield index, until - done
        done = until
