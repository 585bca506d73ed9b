"""Writes capture files in the pcap format with nanoseconds (magic number a1b23c4d).

Packets may be added in any order; they are sorted when the file is closed. The library dpkt writes the file. The
library is imported only when a capture is written: the import takes a tenth of a second, also in runs without a
capture.
"""

from __future__ import annotations

import contextlib
import mmap
from array import array
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from rsg_server.errors import ServerError, mend_of

SNAPLEN = 262_144
_BUFFER_BYTES = 1 << 20


class PcapFile:
    """One capture file. Until it is closed, its frames are stored in `PATH.part`. Frames of one moment keep their order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(path.name + ".part")
        self._moments = array("Q")
        self._ends = array("Q")
        self._buffer = bytearray()
        self._size = 0

    def add(self, moment_ns: int, frame: bytes) -> None:
        """Add a frame that passes the interface at a moment, given in nanoseconds since 1970."""
        self._moments.append(moment_ns)
        self._buffer += frame
        self._size += len(frame)
        self._ends.append(self._size)
        if len(self._buffer) >= _BUFFER_BYTES:
            self._spill()

    def _spill(self) -> None:
        with self._explained(), self._part.open("ab") as part:
            part.write(self._buffer)
        self._buffer.clear()

    def close(self) -> None:
        """Sort the frames, write the capture file and remove `PATH.part`. Raises ServerError if the file cannot be written."""
        from dpkt import pcap

        self._spill()
        with self._explained(), self._path.open("wb") as out:
            pcap.Writer(out, SNAPLEN, pcap.DLT_EN10MB, nano=True).writepkts(self._sorted())
        self._part.unlink()

    def _sorted(self) -> Iterator[tuple[Decimal, bytes]]:
        """Yield each frame with its moment, in order; the moment is seconds since 1970 as a Decimal, since a float
        would lose the ns.
        """
        order = sorted(range(len(self._moments)), key=self._moments.__getitem__)
        if not order:
            return  # an empty file cannot be mapped
        with self._part.open("rb") as part, mmap.mmap(part.fileno(), 0, access=mmap.ACCESS_READ) as frames:
            for index in order:
                begin, end = self._ends[index - 1] if index else 0, self._ends[index]
                yield Decimal(self._moments[index]).scaleb(-9), frames[begin:end]

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Inside of the `with` block, turn an OSError into a ServerError that says what the user can do."""
        try:
            yield
        except OSError as error:
            mend = mend_of(error, "name fewer hosts")
            raise ServerError(f"{self._path}: the capture cannot be written: {error.strerror}; {mend}") from error
