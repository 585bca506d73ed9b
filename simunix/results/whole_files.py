"""Results are files that are there whole, or not at all: written under another name, then renamed.

The folder of a run keeps some room for them from its beginning (`simunix.launch.run_directory`), as a disk may become full.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rsg_server.errors import ServerError

MEND = "free some space, or choose another folder with --out"


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """A file to write text to, which gets its name when it is complete. After a ServerError an older file is as it was."""
    draft = path.with_name(f".{path.name}.part")
    try:
        with draft.open("w", newline="", encoding="utf-8") as file:
            yield file
        os.replace(draft, path)
    except OSError as error:
        raise ServerError(f"{path} cannot be written: {error.strerror}; {MEND}") from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
