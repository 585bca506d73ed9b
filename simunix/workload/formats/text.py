"""Read the text of a trace's file, uncompressed, with checks against files that would do harm.

The file may be plain, gzip, xz or bzip2, which its first bytes tell. Content that cannot be a trace is refused with
file and line before it is parsed: too much text (a small compressed file can contain petabytes), endless lines, control
characters.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from rsg_server.errors import SimunixError

MOST_BYTES = 2 << 30
"""The most bytes after decompression. The largest traces of the archive (5.7 million jobs) have half a gigabyte."""
LONGEST_LINE = 1 << 20
_CHUNK = 1 << 22
_OPENERS: tuple[tuple[bytes, str, Callable[[IO[bytes]], Any]], ...] = (
    (b"\x1f\x8b", "gzip", lambda file: gzip.GzipFile(fileobj=file)),
    (b"\xfd7zXZ\x00", "xz", lzma.LZMAFile),
    (b"BZh", "bzip2", bz2.BZ2File),
)
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
_CONTROL = bytes([*range(0x09), *range(0x0E, 0x20), 0x7F])


def read_bytes(path: Path, expected: str) -> bytes:
    """Return the uncompressed and checked content of a file. `expected` says in messages what the file should be.

    Raises SimunixError with file and line if the file cannot be read or decompressed, is too large, or is no text.
    """
    try:
        with path.open("rb") as file:
            data = _unpacked(path, file, expected)
    except OSError as error:
        raise SimunixError(f"{path}: {error.strerror or error}; expected {expected}") from error
    data = data.removeprefix(b"\xef\xbb\xbf")  # the byte order mark of UTF-8, which some editors write
    _check(path, data, expected)
    return data


def decode(data: bytes) -> str:
    """Return the text of bytes in UTF-8 or else Latin-1, in which old headers write names of people and places."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _unpacked(path: Path, file: IO[bytes], expected: str) -> bytes:
    start = file.read(8)
    file.seek(0)
    found = [(kind, opener) for magic, kind, opener in _OPENERS if start.startswith(magic)]
    kind, source = (found[0][0], found[0][1](file)) if found else ("", file)
    parts: list[bytes] = []
    size = 0
    try:
        while chunk := source.read(_CHUNK):
            parts.append(chunk)
            size += len(chunk)
            if size > MOST_BYTES:
                packed = f" (unpacked; the file itself has {path.stat().st_size:,} bytes of {kind})" if kind else ""
                raise SimunixError(f"{path}: more than {MOST_BYTES:,} bytes{packed}; expected {expected}, or cut it in pieces")
    except _BROKEN as error:
        line = 1 + sum(part.count(b"\n") for part in parts)
        raise SimunixError(f"{path}:{line}: {kind} data is damaged or cut off ({error}); expected {expected}") from error
    except OSError as error:
        if error.strerror:
            raise
        # bz2 raises a plain OSError
        raise SimunixError(f"{path}: {kind} data is damaged ({error}); expected {expected}") from error
    return b"".join(parts)


def _check(path: Path, data: bytes, expected: str) -> None:
    if len(data.translate(None, _CONTROL)) != len(data):  # this is four times as fast as a search by a regular expression
        place = next(place for place, byte in enumerate(data) if byte in _CONTROL)
        line = 1 + data.count(b"\n", 0, place)
        raise SimunixError(f"{path}:{line}: not a text file (byte {data[place]:#04x}); expected {expected}")
    if len(data) > LONGEST_LINE:
        _check_lines(path, data, expected)


def _check_lines(path: Path, data: bytes, expected: str) -> None:
    """Raise SimunixError for a line of more than LONGEST_LINE bytes, by looking for an end of line in each stretch of
    that length.
    """
    begin = 0
    while len(data) - begin > LONGEST_LINE:
        end = data.rfind(b"\n", begin, begin + LONGEST_LINE + 1)
        if end < 0:
            line = 1 + data.count(b"\n", 0, begin)
            raise SimunixError(f"{path}:{line}: a line of more than {LONGEST_LINE:,} bytes; expected {expected}")
        begin = end + 1


def stream(data: bytes) -> IO[bytes]:
    """Return the data as a file object, for parsers that take no bytes."""
    return io.BytesIO(data)
