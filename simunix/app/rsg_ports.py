"""Which server of Remote SimGrid is meant by a port: one of the same user, on this computer.

Remote SimGrid's server listens at a TCP port. Here a port is a number by which commands find the run directory of a server, and
with it the control socket: a file of that name, locked by the server for as long as it lives, in a folder of the user's own.
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
"""Remote SimGrid's variables that say which server is meant."""
HERE = ("", "localhost", "127.0.0.1", "::1")


def port_of(given: str | None, environment: Mapping[str, str]) -> int:
    """The port that the command line or else the environment says. Raises SimunixError for one that cannot be."""
    check_hostname(environment.get(HOSTNAME, ""), HOSTNAME)
    name, text = ("--port", given) if given is not None else (PORT, environment.get(PORT, str(DEFAULT_PORT)))
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 16:
        raise SimunixError(f"{name}: expected a number from 1 to 65535, got {text[:40]!r}")
    return int(text)


def check_hostname(hostname: str, name: str) -> None:
    """Raises SimunixError for the name of another computer."""
    if hostname not in HERE:
        raise SimunixError(f"{name} {hostname}: the server runs on this computer; leave it out, or say localhost")


def _folder() -> Path:
    """The folder of the ports of this user. Raises SimunixError if others can write to it."""
    folder = Path(tempfile.gettempdir()) / f"simunix-rsg-{os.getuid()}"
    with contextlib.suppress(FileNotFoundError):
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise SimunixError(f"{folder}: not a folder of this user alone; remove it, or set TMPDIR to another folder")
    return folder


def _made(folder: Path) -> Path:
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    return _folder()


@contextlib.contextmanager
def claimed(port: int, directory: Path) -> Iterator[None]:
    """Let a port mean the server of a run directory. Raises SimunixError if a server has the port already."""
    path = _made(_folder()) / str(port)
    fd = _locked(path, port)
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, os.fsencode(directory), 0)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(fd)
        with contextlib.suppress(OSError):  # others use the folder
            path.parent.rmdir()


def _locked(path: Path, port: int) -> int:
    """A descriptor of the file of a port, locked; a server that ends removes the file, and then a new one is made."""
    while True:
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            _made(path.parent)  # removed by a server that has just ended
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
    """The run directory of the server of a port. Raises SimunixError if there is none."""
    try:
        return Path(os.fsdecode((_folder() / str(port)).read_bytes()))
    except FileNotFoundError:
        raise nobody(port) from None


def nobody(port: int) -> SimunixError:
    """No server has this port."""
    return SimunixError(f"no server at port {port}; start one with simunix rsg serve PLATFORM --port {port}")
