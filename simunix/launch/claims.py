"""Prevent that two commands write into one folder: a run, a sweep or a comparison locks a file in its folder (the mark)
until it has ended.

The kernel releases the lock however its holder ends. The text of the mark says which process holds the lock, and counts
only while the mark is locked.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from pathlib import Path
from typing import IO

from rsg_server.errors import SimunixError

MARK = ".simunix-run"
"""The file that marks a folder as a run directory, so that a later run may replace the folder."""
LONGEST = 120
"""Messages show at most this many characters of the command line of the process that holds the lock."""
PATIENCE_S, LOOK_S = 1.0, 0.02
"""A process that takes the lock writes its name within PATIENCE_S real seconds; other processes look for the name every
LOOK_S seconds.
"""
MODULES = ("main.py", "__main__.py")


def claim(mark: Path, shown: str) -> IO[str]:
    """Make and lock the mark of a folder. Return the mark's open file; the lock is held until the file is closed.

    `shown` names the folder in messages, such as "--out out/demo". Raises SimunixError, which names the lock's holder,
    if the folder is locked, and OSError if the mark cannot be made.
    """
    while True:
        file = mark.open("a+")
        try:
            _lock(file, shown)
            if os.path.samestat(os.fstat(file.fileno()), mark.stat()):
                _sign(file)
                return file
        except FileNotFoundError:
            pass  # another process has removed the folder in the meantime
        except BaseException:
            file.close()
            raise
        file.close()


def refuse_inner(folder: Path, shown: str) -> None:
    """Raise SimunixError if a folder is inside of another run directory, because the next run there would remove the
    folder, even in use.
    """
    outer = next((parent for parent in folder.resolve().parents if (parent / MARK).exists()), None)
    if outer is not None:
        raise SimunixError(
            f"{shown}: is inside {outer}, the folder of a run, which the next run there replaces; choose another --out"
        )


def _lock(file: IO[str], shown: str) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SimunixError(f"{shown}: is in use{_holder(file)}, or choose another --out") from None
    except OSError as error:
        text = f"{shown}: its file system has no locks ({error.strerror}); a second run there would not be noticed"
        print(f"simunix: {text}", file=sys.stderr, flush=True)


def _sign(file: IO[str]) -> None:
    """Write the pid and the command of this process into the mark."""
    file.truncate(0)
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    json.dump({"pid": os.getpid(), "computer": os.uname().nodename, "command": _command(), "since": since}, file)
    file.flush()


def _command() -> str:
    program = Path(sys.argv[0]).name
    import shlex  # only a run whose folder is kept needs it

    words = ["simunix" if program in MODULES else program, *sys.argv[1:]]
    text = " ".join(shlex.join(words).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _holder(file: IO[str]) -> str:
    """Return a text for messages: which process holds the lock of a run directory, and how to end that process."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        file.seek(0)
        try:
            found = json.loads(file.read())
            pid, computer = int(found["pid"]), str(found["computer"])
            where = "" if computer == os.uname().nodename else f" on {computer}"
            # else the text is of an earlier holder: the present one has not written its name yet
            if where or Path(f"/proc/{pid}").exists():
                said = f"since {found['since']} ({found['command']}); wait for its end, end it (kill {pid})"
                return f" by pid {pid}{where} {said}"
        except (ValueError, KeyError, TypeError):
            pass  # the name is only half written
        time.sleep(LOOK_S)
    return " by another simunix; wait for its end, end it"
