"""How a compiler finds librsg and its headers, which are installed with this package."""

from __future__ import annotations

import shlex
from pathlib import Path

import simunix
from rsg_server.errors import SimunixError

LIBRARY = "librsg.so"


def flags(compiling: bool, linking: bool) -> str:
    """The options, each quoted for a shell where that is needed. Raises SimunixError if the library is not there."""
    folder = Path(simunix.__file__).parent / "lib"
    if not (folder / LIBRARY).exists():
        raise SimunixError(f"{folder / LIBRARY} is not there; install simunix again")
    words = [f"-I{folder / 'include'}", "-pthread"] if compiling else []
    words += [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lrsg"] if linking else []
    return shlex.join(words)
