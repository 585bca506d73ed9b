"""Ways by which root of a host might reach the computer: a table, filled by the modules beside this one, which run inside.

A way returns a text if it has reached something, and raises OSError (or returns "") if it has not. What has changed outside,
the test looks for itself. Each way is tried in a process with a mount namespace of its own.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from dataclasses import dataclass

Way = Callable[["Outside"], str]
WAYS: dict[str, Way] = {}
LIBC = ctypes.CDLL(None, use_errno=True)
REFUSALS = (errno.EPERM, errno.EACCES)
MS_REMOUNT, MS_BIND, MS_MOVE, MS_REC, MS_RDONLY, MS_SHARED = 32, 4096, 8192, 16384, 1, 1 << 20
MNT_DETACH = 2
CLONE = {"mnt": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000} | {
    "pid": 0x20000000,
    "net": 0x40000000,
}


@dataclass(frozen=True)
class Outside:
    """What the test has prepared outside of the host."""

    folder: str  # a file system of its own, which hosts see
    secret: str  # a file in /run that only root may read
    secret_handle: str  # its file handle: type, colon, hexadecimal bytes
    victim: int  # a process of root
    user_victim: int  # one of user 1234
    terminal: str  # its number in /dev/pts
    abstract: str  # name of a listening socket
    key: int  # in root's user keyring
    segment: int  # key of a segment of shared memory
    disk: str  # numbers of the disk that the computer's root is on: major:minor
    is_host: bool  # else the ways are tried as root of the computer
    left_out: list[str]  # ways that are not to be tried


def way(function: Way) -> Way:
    """Enter a function into the table, under its name."""
    WAYS[function.__name__] = function
    return function


def call(number: int, *arguments: object) -> int:
    """A system call; raises OSError."""
    result = LIBC.syscall(ctypes.c_long(number), *(_word(argument) for argument in arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(result)


def _word(argument: object) -> object:
    if isinstance(argument, int):
        return ctypes.c_long(argument if argument < 1 << 63 else argument - (1 << 64))
    if isinstance(argument, str):
        return argument.encode()
    return argument


LIBC.syscall.restype = ctypes.c_long


def has_shim() -> bool:
    """Whether this program is emulated."""
    with open("/proc/self/maps") as file:
        return "libsimunix" in file.read()


def is_let_pass(number: int, *arguments: object) -> str:
    """Whether a call whose arguments make no sense is refused for these, and not for want of privileges."""
    try:
        call(number, *arguments)
    except OSError as error:
        if error.errno in (*REFUSALS, errno.ENOSYS):
            raise
        return f"let pass: {errno.errorcode[error.errno]}"
    return "done"


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """mount(2)"""
    call(165, source or None, target, kind or None, flags, data or None)


def uncover(target: str) -> None:
    """In a host, take away all that is mounted at a path, one after the other, as far as the kernel lets us."""
    for _ in range(16 if is_host else 0):
        try:
            call(166, target, MNT_DETACH)
        except OSError:
            return


def place(name: str) -> str:
    """A new folder to mount something at."""
    above = next(path for path in ("/srv", "/media", "/opt", "/tmp") if os.path.isdir(path))
    mount("none", above, "tmpfs")
    path = f"{above}/{name}"
    os.mkdir(path)
    return path


def nest(*kinds: str) -> None:
    """Enter a user namespace of one's own, as its root, and more namespaces with it."""
    call(272, CLONE["user"] | sum(CLONE[kind] for kind in kinds))
    for file, text in (("setgroups", "deny"), ("uid_map", "0 0 1"), ("gid_map", "0 0 1")):
        write(f"/proc/self/{file}", text)


def write(path: str, text: str) -> str:
    """Write into a file that is there."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
    return f"wrote {path}"


def opened(path: str, flags: int = os.O_WRONLY) -> str:
    """Open a file, and no more."""
    os.close(os.open(path, flags))
    return f"opened {path}"


def read(path: str) -> str:
    """The beginning of a file."""
    with open(path, "rb") as file:
        return file.read(200).decode(errors="replace")


is_host = True
OTHER_SWAPPINESS = "43"


def try_all(attempts: list[Callable[[], str]]) -> str:
    """The first of some attempts that reaches something; raises the last one's error."""
    failure = OSError(errno.ENOENT, "nothing to try")
    for attempt in attempts:
        try:
            if found := attempt():
                return found
        except OSError as error:
            failure = error
    raise failure
