"""The folder of a run: results, logs, the hosts' private files, the control socket."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rsg_server.errors import SimunixError
from simunix.launch.claims import MARK, claim, refuse_inner

CONTROL_SOCKET = "control.sock"
RESERVE, RESERVE_BYTES = ".reserve", 1 << 18
"""A file that reserves disk space for the results of a run whose disk becomes full: a long run.json and a short
jobs.csv.
"""
RESERVE_OF_LOGS = ".reserve-logs"
"""A second file that reserves disk space, for what the server writes at the end: the last lines of the event log,
storages.csv.
"""


def remove_tree(path: Path, kept: str = "") -> None:
    """Remove a folder with its content, including folders without permissions that overlay mounts leave behind. Raises
    SimunixError if that fails.

    With `kept`, the folder itself and the file of that name in it remain.
    """

    def open_up(function: object, name: str, problem: object) -> None:
        os.chmod(name, 0o700)
        if os.path.isdir(name):
            shutil.rmtree(name)
        else:
            os.unlink(name)

    try:
        for child in list(path.iterdir()) if kept else ():
            if child.is_dir() and not child.is_symlink():
                shutil.rmtree(child, onerror=open_up)
            elif child.name != kept:
                child.unlink()
        if not kept:
            shutil.rmtree(path, onerror=open_up)
            if path.exists():
                path.rmdir()
    except OSError as error:
        reason = error.strerror or str(error)
        raise SimunixError(f"{error.filename or path}: {reason}; remove the folder {path} or choose another --out") from error


def _reserve(path: Path) -> None:
    """Make a file that occupies its disk space by being written, because some file systems cannot reserve space in
    another way.
    """
    with path.open("wb") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)
        except OSError as error:
            if error.errno == errno.EFBIG:
                return  # `ulimit -f` is exceeded, against which reserved space does not help
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise
            file.write(bytes(RESERVE_BYTES))


def _claimed(path: Path) -> IO[str]:
    """Make the folder of a run, or empty that of an earlier run. Return the open file that holds the folder's lock.
    Raises SimunixError if the folder is in use or has other files.
    """
    shown = f"--out {path}"
    try:
        _check(path, shown)
        path.mkdir(parents=True, mode=0o700, exist_ok=True)
        lock = claim(path / MARK, shown)
        try:
            _clear(path)
        except BaseException:
            lock.close()
            raise
    except OSError as error:
        raise SimunixError(f"{shown}: {error.strerror}; choose another folder") from error
    return lock


def _check(path: Path, shown: str) -> None:
    if path.is_symlink():
        raise SimunixError(f"{shown}: a link to {path.readlink()}; name the folder itself, which a run replaces")
    if path.exists() and not path.is_dir():
        raise SimunixError(f"{shown}: exists and is not a folder; choose another name")
    if path.exists() and any(path.iterdir()) and not (path / MARK).exists():
        raise SimunixError(f"{shown}: exists and is not an earlier run's folder; choose another name")
    refuse_inner(path, shown)


def _clear(path: Path) -> None:
    path.chmod(0o700)
    remove_tree(path, kept=MARK)
    for name in (RESERVE, RESERVE_OF_LOGS):
        _reserve(path / name)


class RunDirectory:
    """The paths in one run directory, which only its user can read (mode 0700)."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()

    @classmethod
    @contextlib.contextmanager
    def create(cls, path: Path) -> Iterator[RunDirectory]:
        """Make the run directory, and lock it until the context ends. The results of an earlier run are removed.

        Raises SimunixError if the folder has other content, or another run uses it.
        """
        with _claimed(path):
            yield cls(path)

    def release_reserve(self, name: str = RESERVE) -> None:
        """Free the disk space that was reserved for the results or the logs, which are written next."""
        with contextlib.suppress(OSError):
            (self.path / name).unlink()

    @property
    def control(self) -> Path:
        """The control socket of the running emulation."""
        return self.path / CONTROL_SOCKET

    @property
    def events(self) -> Path:
        """The canonical event log."""
        return self.path / "events.jsonl"

    def host(self, name: str) -> Path:
        """Return the folder with a host's private files and its processes' output."""
        return self.path / "hosts" / name

    def private(self, host: str, path: str) -> Path:
        """Return the folder with the content of a host's private path."""
        return self.host(host) / "files" / path.strip("/").replace("/", "_")

    def shared(self, path: str) -> Path:
        """Return the folder with the content of a path that hosts share."""
        return self.path / "shared" / path.strip("/").replace("/", "_")

    def exported(self, export: str) -> Path:
        """Return the folder with the content of a path of file servers, SERVERS:PATH."""
        servers, _, path = export.partition(":")
        return self.path / "exports" / servers / path.strip("/").replace("/", "_")
