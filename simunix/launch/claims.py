"""One writer for each folder: a run, a sweep or a comparison locks the mark in its folder until it has ended.

The kernel takes a lock back whatever ends its holder. The mark's text says who the holder is, and counts only while the
mark is locked.
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
"""The mark of a run's folder, which makes it one that another run may replace."""
LONGEST = 120
"""So many characters of a holder's command are shown."""
PATIENCE_S, LOOK_S = 1.0, 0.02
"""A holder that has the lock writes its name within this time, in seconds; how often to look."""
MODULES = ("main.py", "__main__.py")


def claim(mark: Path, shown: str) -> IO[str]:
    """Make and lock the mark of a folder; return its file, which holds the lock until it is closed.

    `shown` names the folder in messages, such as "--out out/demo". Raises SimunixError with the lock's holder, and OSError.
    """
    while True:
        file = mark.open("a+")
        try:
            _lock(file, shown)
            if os.path.samestat(os.fstat(file.fileno()), mark.stat()):
                _sign(file)
                return file
        except FileNotFoundError:
            pass  # the folder has been removed in between
        except BaseException:
            file.close()
            raise
        file.close()


def refuse_inner(folder: Path, shown: str) -> None:
    """Raise SimunixError for a folder inside that of a run: the next run there would remove it, in use or not."""
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
    """Write the name of the lock's holder."""
    file.truncate(0)
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    json.dump({"pid": os.getpid(), "computer": os.uname().nodename, "command": _command(), "since": since}, file)
    file.flush()


def _command() -> str:
    program = Path(sys.argv[0]).name
    import shlex  # a run whose folder is not kept tells nobody its command

    words = ["simunix" if program in MODULES else program, *sys.argv[1:]]
    text = " ".join(shlex.join(words).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _holder(file: IO[str]) -> str:
    """Words for who holds the lock, and for what to do about it."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        file.seek(0)
        try:
            found = json.loads(file.read())
            pid, computer = int(found["pid"]), str(found["computer"])
            where = "" if computer == os.uname().nodename else f" on {computer}"
            if where or Path(f"/proc/{pid}").exists():  # else an earlier holder: this one has not written its name yet
                said = f"since {found['since']} ({found['command']}); wait for its end, end it (kill {pid})"
                return f" by pid {pid}{where} {said}"
        except (ValueError, KeyError, TypeError):
            pass  # half written
        time.sleep(LOOK_S)
    return " by another simunix; wait for its end, end it"
