"""`simunix run --log-messages`: write which messages programs exchanged over connections, and when these were sent and
arrived.

The server reports the bytes of each connection. The RJMS's adapter finds the end and the name of each message in these
bytes (`ClusterPlan.message`). If no adapter knows the bytes, each piece that arrives becomes a row without a name.
"""

from __future__ import annotations

import csv
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import ServerError

if TYPE_CHECKING:
    from rsg_server.sockets.kinds.stream import StreamSocket

NS = 10**9
FILE = "host_messages.csv"
COLUMNS = ("sent", "arrived", "from", "from_port", "from_program", "to", "to_port", "to_program", "bytes", "message")
Decoder = Callable[[bytes], tuple[int, str] | None]
"""The function of an RJMS's adapter that finds the first message in bytes; see `ClusterPlan.message`."""


@dataclass(slots=True)
class _Stream:
    """One direction of a connection: the bytes that have arrived and are in no row yet, and when each piece was sent.

    `sent` has, for each piece, the number of its bytes that are in no row yet, and the virtual nanoseconds at which it
    was sent. Without `decode`, each piece becomes a row.
    """

    decode: Decoder | None
    waiting: bytearray = field(default_factory=bytearray)
    sent: deque[tuple[int, int]] = field(default_factory=deque)

    def messages(self) -> Iterator[tuple[int, str]]:
        """Yield the size in bytes and the name of each message that has arrived completely. If the RJMS's adapter does
        not know the bytes of a connection, it is not asked again.
        """
        while self.waiting and self.decode is not None:
            try:
                found = self.decode(bytes(self.waiting[:HEAD_BYTES]))
            except ValueError:
                self.decode = None
                break
            if found is None or found[0] > len(self.waiting):
                return
            yield found
        if self.waiting:
            yield len(self.waiting), ""

    def take(self, size_bytes: int) -> int:
        """Remove a message from the bytes; return the virtual nanoseconds at which its first byte was sent."""
        del self.waiting[:size_bytes]
        first_ns = self.sent[0][1]
        while size_bytes:
            left, moment_ns = self.sent.popleft()
            if left > size_bytes:
                self.sent.appendleft((left - size_bytes, moment_ns))
            size_bytes -= min(left, size_bytes)
        return first_ns


HEAD_BYTES = 64
"""The number of bytes from which an RJMS's adapter can tell the kind of a message."""


class HostMessages:
    """Writes a row for each message that has arrived completely, in the order of arrival. `decoders` has the function
    of each host's RJMS, by host name.
    """

    def __init__(self, path: Path, now_ns: Callable[[], int], decoders: Mapping[str, Decoder]) -> None:
        self._path = path
        self._now_ns = now_ns
        self._decoders = decoders
        self._streams: dict[int, _Stream] = {}  # by number of the sending socket
        self._unknown: set[int] = set()  # the numbers of sockets whose bytes no RJMS's adapter knows
        self._file = path.open("w", newline="", encoding="utf-8")
        self._rows = csv.writer(self._file, lineterminator="\n")
        self._rows.writerow(COLUMNS)

    def sent(self, sender: StreamSocket, size_bytes: int) -> None:
        """Record the moment at which a socket has sent bytes."""
        stream = self._streams.get(sender.number)
        if stream is None:
            stream = self._streams[sender.number] = _Stream(self._decoder(sender))
        stream.sent.append((size_bytes, self._now_ns()))

    def _decoder(self, sender: StreamSocket) -> Decoder | None:
        if sender.number in self._unknown:
            return None
        peer = sender.peer.host.name if sender.peer is not None else ""
        return self._decoders.get(sender.host.name) or self._decoders.get(peer)

    def arrived(self, sender: StreamSocket, receiver: StreamSocket, data: bytes) -> None:
        """Write a row for each message that has arrived completely with these bytes."""
        stream = self._streams[sender.number]
        stream.waiting += data
        for size_bytes, name in stream.messages():
            self._write(sender, receiver, stream.take(size_bytes), size_bytes, name)
        if stream.decode is None:
            self._unknown.add(sender.number)
        if not stream.sent:
            del self._streams[sender.number]

    def _write(self, sender: StreamSocket, receiver: StreamSocket, sent_ns: int, size_bytes: int, name: str) -> None:
        moments = (_seconds(sent_ns), _seconds(self._now_ns()))
        try:
            self._rows.writerow((*moments, *_end(sender), *_end(receiver), size_bytes, name))
        except OSError as error:
            raise ServerError(f"{self._path} cannot be written: {error.strerror}; free some space") from error

    def close(self) -> None:
        """Write the rows of host_messages.csv that are still in memory, and close the file."""
        try:
            self._file.close()
        except OSError as error:
            raise ServerError(f"{self._path} cannot be written: {error.strerror}; free some space") from error


def _end(which: StreamSocket) -> tuple[str, int | str, str]:
    """Return the host, the port and the program of one end of a connection. Before a program has accepted the
    connection, the program is the one that listens.
    """
    owner = which.owner
    port = which.local.port if which.local is not None else ""
    return which.host.name, port, os.path.basename(owner.program) if owner is not None else ""


def _seconds(moment_ns: int) -> str:
    return f"{moment_ns // NS}.{moment_ns % NS:09d}"
