"""The logs of a host: what its programs print, and what they write below /var/log."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError

LOGS_MOST, DEPTH_MOST = 200, 3
PIECE_BYTES = 1 << 16
"""The most of a log that the page is given at once."""
PRINTED = (".out", ".err")
VAR_LOG = "var_log"
"""How the name of the folder begins in which the run directory has a host's /var/log, or a folder below."""


def logs_of(host: Path) -> list[str]:
    """The logs of a host that are not empty, as paths below its folder in the run directory, by name."""
    files = [path for path in _files(host, 1) if path.suffix in PRINTED]
    for folder in sorted((host / "files").glob(f"{VAR_LOG}*")):
        files += _files(folder, DEPTH_MOST)
    return sorted(str(path.relative_to(host)) for path in files)[:LOGS_MOST]


def _files(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the files of a folder that are not empty. Links are not followed: programs of the host have made them."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and depth > 1:
            yield from _files(Path(entry.path), depth - 1)
        elif entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_size:
            yield Path(entry.path)


def read_log(path: Path, begin: int | None) -> dict[str, Any]:
    """What a log has from a byte on, or its last PIECE_BYTES: `text`, and in `next` where the next piece begins."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise SimunixError(f"{path.name}: is no file")
        if begin is None or begin > found.st_size:  # a log that was made anew is read from its end
            begin = max(0, found.st_size - PIECE_BYTES)
        piece = os.pread(fd, PIECE_BYTES, begin)
    finally:
        os.close(fd)
    return {"text": piece.decode(errors="replace"), "next": begin + len(piece)}
