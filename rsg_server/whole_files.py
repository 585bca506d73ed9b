"""Results are files that are there whole, or not at all: written under another name, then renamed.

The folder of a run keeps some room for them from its beginning (`simunix.launch.run_directory`), as a disk may become full.
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
    """A name to write a file under, which gets the name `path` when the block ends. Raises OSError; an older file stays then.

    What is no plain file, such as /dev/stdout or a pipe, is written to as it is; a link keeps leading where it leads.
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
            with contextlib.suppress(OSError):  # another user's file in a folder that this user may write to
                draft.chmod(stat.S_IMODE(before.st_mode))
        os.replace(draft, target)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """A file to write text to, which gets its name when it is complete. After a ServerError an older file is as it was."""
    try:
        with whole_path(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise ServerError(f"{path} cannot be written: {error.strerror}; {mend_of(error, ELSEWHERE)}") from error


def write_whole(path: Path, text: str) -> None:
    """Write a text file, whole or not at all. Raises ServerError."""
    with whole_file(path) as file:
        file.write(text)


def unwritten(path: Path, error: OSError, elsewhere: str = "choose another name") -> str:
    """Which file could not be written, why, and how to mend it; `elsewhere` says how to have it written somewhere else."""
    return f"{path}: {error.strerror or error}; {mend_of(error, elsewhere)}"
