"""Find the server of Remote SimGrid that a port number means: a server of this user on this computer.

The original Remote SimGrid server listens at a TCP port. In simunix, a port is only a number by which commands find the
run directory of a server, and thereby its control socket. A folder of the user has one file per port, named by the
number; the server keeps its file locked until it ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from rsg_server.errors import SimunixError

DEFAULT_PORT = 35000
PORT, HOSTNAME = "RSG_SERVER_PORT", "RSG_SERVER_HOSTNAME"
"""The environment variables of Remote SimGrid that say which server a command means."""
HERE = ("", "localhost", "127.0.0.1", "::1")


def port_of(given: str | None, environment: Mapping[str, str]) -> int:
    """Return the port from the command line, or else from the environment. Raises SimunixError for a number that cannot
    be a port.
    """
    check_hostname(environment.get(HOSTNAME, ""), HOSTNAME)
    name, text = ("--port", given) if given is not None else (PORT, environment.get(PORT, str(DEFAULT_PORT)))
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 16:
        raise SimunixError(f"{name}: expected a number from 1 to 65535, got {text[:40]!r}")
    return int(text)


def check_hostname(hostname: str, name: str) -> None:
    """Raise SimunixError if a host name is not that of this computer; `name` is the option or variable that gave the
    host name.
    """
    if hostname not in HERE:
        raise SimunixError(f"{name} {hostname}: a server can only be on this computer; leave this out, or give localhost")


def _folder() -> Path:
    """Return the folder that has this user's port files. Raises SimunixError if other users can write to the folder."""
    folder = Path(tempfile.gettempdir()) / f"simunix-rsg-{os.getuid()}"
    with contextlib.suppress(FileNotFoundError):
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise SimunixError(
                f"{folder}: belongs to another user, or others can write to it; remove it, or set TMPDIR to another folder"
            )
    return folder


def _made(folder: Path) -> Path:
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    return _folder()


@contextlib.contextmanager
def claimed(port: int, directory: Path) -> Iterator[None]:
    """Bind a port to the server of a run directory, until the end of the `with` block. Raises SimunixError if another
    server has the port.
    """
    path = _made(_folder()) / str(port)
    fd = _locked(path, port)
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, os.fsencode(directory), 0)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(fd)
        with contextlib.suppress(OSError):  # the folder is not empty: other servers have files in it
            path.parent.rmdir()


def _locked(path: Path, port: int) -> int:
    """Return a locked descriptor of the file of a port. If a server that ended has just removed the file, a new file is
    made.
    """
    while True:
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            _made(path.parent)  # a server that has just ended removed the folder
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise SimunixError(
                f"--port {port}: a server has this port already; choose another one, or end it: simunix rsg kill --port {port}"
            ) from None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(fd), path.lstat()):
                return fd
        os.close(fd)


def directory_of(port: int) -> Path:
    """Return the run directory of the server of a port. Raises SimunixError if no server has the port."""
    try:
        return Path(os.fsdecode((_folder() / str(port)).read_bytes()))
    except FileNotFoundError:
        raise nobody(port) from None


def nobody(port: int) -> SimunixError:
    """Return the error that no server has this port."""
    return SimunixError(f"no server at port {port}; start one with simunix rsg serve PLATFORM --port {port}")
