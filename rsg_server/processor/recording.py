"""The charges of a run in a file: who was charged what, and when, in the order in which that happened.

A header line comes first, then four numbers for each charge, each in base 128 with the lowest digits first (LEB128). They are
the actor; four times the points since the actor's last charge (2 more before an exec or the actor's end, 1 more if the actor
was preempted); the nanoseconds of CPU time; the virtual nanoseconds since the charge before.
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
    """What an actor was charged after so many calls and clock reads since its last charge, and when (virtual time).

    One is made for each charge: a frozen dataclass would take three times as long.
    """

    actor: int
    points: int
    is_preempted: bool
    cpu_ns: int
    now_ns: int
    is_end: bool = False  # before an exec, or the end of the actor


class Recorder:
    """Writes the charges of a run."""

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
        """Append a charge."""
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
    """The numbers of a file. Raises SimunixError with the path if it is no recording, or ends in the middle of a charge."""
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
    """The charges of a file. Raises SimunixError as `recording_of` does."""
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
