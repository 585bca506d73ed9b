"""The compiler and linker options for the library librsg and its headers, which are installed with this package."""

from __future__ import annotations

import shlex
from pathlib import Path

import simunix
from rsg_server.errors import SimunixError

LIBRARY = "librsg.so"


def flags(compiling: bool, linking: bool) -> str:
    """Return the options for a compiler, a linker or both, quoted for a shell where necessary. Raises SimunixError if
    librsg is not installed.
    """
    folder = Path(simunix.__file__).parent / "lib"
    if not (folder / LIBRARY).exists():
        raise SimunixError(f"{folder / LIBRARY} is not there; install simunix again")
    words = [f"-I{folder / 'include'}", "-pthread"] if compiling else []
    words += [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lrsg"] if linking else []
    return shlex.join(words)
