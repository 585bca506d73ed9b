"""Capture files with nanoseconds (pcap, magic a1b23c4d). Packets may come in any order and are sorted when a file is closed."""

from __future__ import annotations

import contextlib
import mmap
import struct
from array import array
from pathlib import Path

from rsg_server.errors import ServerError

NANOSECONDS = 0xA1B23C4D
ETHERNET = 1
SNAPLEN = 262_144
_FILE_HEADER = struct.Struct("<IHHiIII")
_PACKET_HEADER = struct.Struct("<IIII")
_BUFFER_BYTES = 1 << 20
NS = 10**9


class PcapFile:
    """One file; frames wait in `PATH.part`, in the order in which they came. Of one moment, they stay in that order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._part = path.with_name(path.name + ".part")
        self._moments = array("Q")
        self._ends = array("Q")
        self._buffer = bytearray()
        self._size = 0

    def add(self, moment_ns: int, frame: bytes) -> None:
        """A frame at a moment, in nanoseconds since 1970."""
        self._moments.append(moment_ns)
        self._buffer += frame
        self._size += len(frame)
        self._ends.append(self._size)
        if len(self._buffer) >= _BUFFER_BYTES:
            self._spill()

    def _spill(self) -> None:
        with self._own_words(), self._part.open("ab") as part:
            part.write(self._buffer)
        self._buffer.clear()

    def close(self) -> None:
        """Write the file."""
        self._spill()
        order = sorted(range(len(self._moments)), key=self._moments.__getitem__)
        with self._own_words(), self._part.open("rb") as part, self._path.open("wb") as out:
            out.write(_FILE_HEADER.pack(NANOSECONDS, 2, 4, 0, 0, SNAPLEN, ETHERNET))
            if order:
                with mmap.mmap(part.fileno(), 0, access=mmap.ACCESS_READ) as frames:
                    for index in order:
                        begin, end = self._ends[index - 1] if index else 0, self._ends[index]
                        seconds, nanoseconds = divmod(self._moments[index], NS)
                        out.write(_PACKET_HEADER.pack(seconds, nanoseconds, end - begin, end - begin))
                        out.write(frames[begin:end])
        self._part.unlink()

    @contextlib.contextmanager
    def _own_words(self):  # type: ignore[no-untyped-def]
        try:
            yield
        except OSError as error:
            raise ServerError(
                f"{self._path}: the capture cannot be written: {error.strerror}; free some space or name fewer hosts"
            ) from error
