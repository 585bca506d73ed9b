"""A folder that is the / of emulated hosts, read from outside: nothing here runs a program of it or writes to it."""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rsg_server.errors import SimunixError

LOADER = "/lib64/ld-linux-x86-64.so.2"
LIBC = ("/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6")
_GLIBC = re.compile(rb"GNU C Library[^\n]* version (\d+\.\d+)")
LINKS_MAX = 40


@dataclass(frozen=True, slots=True)
class RootTree:
    """A root file system by its path on this computer; `/` is this computer's own."""

    path: Path

    def locate(self, name: str) -> Path:
        """Where a path of the root is on this computer: symbolic links are followed as from inside, where / is the root.

        What does not exist is located below the last folder that does. Raises OSError for links that go round in circles.
        """
        here: list[str] = []
        pending = list(reversed(PurePosixPath(name).parts))
        links = 0
        while pending:
            part = pending.pop()
            if part == "/":
                here = []
            elif part == "..":
                here = here[:-1]
            elif (candidate := self.path.joinpath(*here, part)).is_symlink():
                links += 1
                if links > LINKS_MAX:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(candidate))
                pending += reversed(PurePosixPath(os.readlink(candidate)).parts)
            else:
                here.append(part)
        return self.path.joinpath(*here)

    def has(self, name: str) -> bool:
        """Whether a path exists, seen from inside."""
        try:
            return self.locate(name).exists()
        except OSError:
            return False

    def user(self, name: str) -> tuple[int, int] | None:
        """User and group number of a user, by name or number; None if there is none.

        Of another root only its own /etc/passwd counts. A number that is not listed is in the group of that number.
        """
        is_number = name.isascii() and name.isdigit()
        if self == THIS_COMPUTER:
            with contextlib.suppress(KeyError, OverflowError):
                return (pwd.getpwuid(int(name)) if is_number else pwd.getpwnam(name))[2:4]
        for line in self._read("/etc/passwd").decode(errors="replace").splitlines():
            fields = line.split(":")
            if len(fields) > 3 and name == fields[2 if is_number else 0] and fields[2].isdigit() and fields[3].isdigit():
                return int(fields[2]), int(fields[3])
        return (int(name), int(name)) if is_number else None

    def release(self) -> str:
        """What the root calls itself, e.g. `Debian GNU/Linux 13 (trixie)`."""
        for line in self._read("/etc/os-release").decode(errors="replace").splitlines():
            key, _, value = line.partition("=")
            if key == "PRETTY_NAME":
                return value.strip().strip("\"'")
        return "unknown"

    def glibc(self) -> str | None:
        """Version of the C library, e.g. `2.41`; None if it is not the GNU one."""
        for name in LIBC:
            found = _GLIBC.search(self._read(name))
            if found:
                return found[1].decode()
        return None

    def _read(self, name: str) -> bytes:
        try:
            return self.locate(name).read_bytes()
        except OSError:
            return b""


THIS_COMPUTER = RootTree(Path("/"))


def open_root(path: Path) -> RootTree:
    """The root at a path that a user gave; raises SimunixError if hosts could not run in it."""
    if not path.is_dir():
        raise SimunixError(f"{path}: no such folder; make one with: simunix root make RELEASE {path} PACKAGE...")
    tree = RootTree(path.resolve())
    try:
        missing = [name for name in (LOADER, "/bin/sh", "/etc/passwd") if not tree.has(name)]
    except PermissionError as error:
        raise SimunixError(f"{path}: {error.strerror}; run as a user that may read it") from error
    if missing:
        raise SimunixError(f"{path}: not a root file system of x86-64 Linux with the GNU C library: it has no {missing[0]}")
    return tree
