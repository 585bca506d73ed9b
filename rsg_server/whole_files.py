"""Writes result files whole or not at all: a file is first written under another name, then renamed.

A disk may become full during a run. So the run reserves some room on the disk for these files at its start
(`simunix.launch.run_directory`).
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rsg_server.errors import ServerError, mend_of

ELSEWHERE = "choose another folder with --out"


@contextlib.contextmanager
def whole_path(path: Path) -> Iterator[Path]:
    """Yield a path to write a file to, and rename the file to `path` when the block ends.

    Raises OSError; an older file at `path` is then unchanged. If `path` is no plain file (/dev/stdout, a pipe), the
    text is written to it directly. If `path` is a symbolic link, the link stays, and the file to which it leads is
    replaced.
    """
    target = path.resolve() if path.is_symlink() else path
    before = target.stat() if target.exists() else None
    if before is not None and not stat.S_ISREG(before.st_mode):
        yield path
        return
    draft = target.with_name(f".{target.stem}.part{target.suffix}")
    try:
        yield draft
        if before is not None:
            # the file belongs to another user: this user may write to it, but may make no files in its folder
            with contextlib.suppress(OSError):
                draft.chmod(stat.S_IMODE(before.st_mode))
        os.replace(draft, target)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """Yield an open text file that gets the name `path` when the block ends.

    Raises ServerError; an older file is then unchanged.
    """
    try:
        with whole_path(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise ServerError(f"{path} cannot be written: {error.strerror}; {mend_of(error, ELSEWHERE)}") from error


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole, or leave the older file unchanged and raise ServerError."""
    with whole_file(path) as file:
        file.write(text)


def unwritten(path: Path, error: OSError, elsewhere: str = "choose another name") -> str:
    """Return the message for a file that could not be written: which file, why, what to do.

    `elsewhere` says how the user has the file written to another place.
    """
    return f"{path}: {error.strerror or error}; {mend_of(error, elsewhere)}"
