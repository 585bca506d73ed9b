"""Writes and reads a recording: the charges of a run (who was charged how much CPU time, and when) in the order of time.

A header line comes first, then four numbers for each charge, each in base 128 with the lowest digits first (LEB128).
The first is the number of the actor. The second is four times the points (calls and clock reads) since the actor's last
charge, plus 2 before an exec or the actor's end, plus 1 if the turn was taken from the actor. The third is the CPU time
in ns, the fourth is the virtual time (ns) since the previous charge.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from rsg_server.errors import ServerError, SimunixError

HEADER = b"simunix charges 2\n"
_CONTINUED = bytes(range(128, 256))
_FLUSH_BYTES = 1 << 16


class Charge(NamedTuple):
    """A charge: the actor, the number of calls and clock reads since its last charge, the CPU time, and the virtual time.

    The class is no frozen dataclass, which would take three times as long to make.
    """

    actor: int
    points: int
    is_preempted: bool
    cpu_ns: int
    now_ns: int
    is_end: bool = False  # whether the charge comes before an exec, or before the end of the actor


class Recorder:
    """Writes the charges of a run to a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._buffer = bytearray(HEADER)
        self._now_ns = 0
        try:
            self._file: IO[bytes] = path.open("wb")
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> ServerError:
        return ServerError(f"{self._path}: the charges cannot be written: {error.strerror}")

    def write(self, charge: Charge) -> None:
        """Append a charge to the file."""
        actor, points, is_preempted, cpu_ns, now_ns, is_end = charge
        buffer = self._buffer
        for number in (actor, 4 * points + 2 * is_end + is_preempted, cpu_ns, now_ns - self._now_ns):
            while number > 127:
                buffer.append(number & 127 | 128)
                number >>= 7
            buffer.append(number)
        self._now_ns = now_ns
        if len(buffer) >= _FLUSH_BYTES:
            self._flush()

    def _flush(self) -> None:
        try:
            self._file.write(self._buffer)
        except OSError as error:
            raise self._failed(error) from error
        self._buffer.clear()

    def close(self) -> None:
        """Write what is still buffered, and close the file."""
        self._flush()
        self._file.close()


def recording_of(path: Path) -> bytes:
    """Return the numbers in a recording, encoded.

    Raises SimunixError, with the path, if the file is no recording or is cut off.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SimunixError(f"{path}: {error.strerror}; a run with cpu_policy: charged writes this file") from error
    if not content.startswith(HEADER):
        wanted = HEADER.decode().strip()
        raise SimunixError(f"{path}: not a recording of this version of simunix; expected it to begin with {wanted!r}")
    ends = content[len(HEADER) :].translate(None, _CONTINUED)
    if content[-1] > 127 or len(ends) % 4:
        raise SimunixError(f"{path}: cut off: the last charge is not whole; only a run that has ended has a whole recording")
    return content[len(HEADER) :]


def read_charges(path: Path) -> list[Charge]:
    """Return the charges in a recording. Raises SimunixError as `recording_of` does."""
    numbers = _numbers(recording_of(path))
    charges, now_ns = [], 0
    for actor, place, cpu_ns, later_ns in zip(*[numbers] * 4, strict=True):
        now_ns += later_ns
        charges.append(Charge(actor, place >> 2, bool(place & 1), cpu_ns, now_ns, bool(place & 2)))
    return charges


def _numbers(content: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in content:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0
