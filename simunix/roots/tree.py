"""A folder that is the root file system of emulated hosts, read from outside. This module neither runs programs in it
nor writes to it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rsg_server.errors import SimunixError
from simunix.roots.tracing import tracing_is_allowed

LOADER = "/lib64/ld-linux-x86-64.so.2"
LIBC = ("/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6")
_GLIBC = rb"GNU C Library[^\n]* version (\d+\.\d+)"
LINKS_MAX = 40


@dataclass(frozen=True, slots=True)
class RootTree:
    """A root file system by its path on this computer; `/` is the root of this computer."""

    path: Path

    def locate(self, name: str) -> Path:
        """Return where a path of the root is on this computer. Symbolic links are followed as a host would follow them.

        A path that does not exist is located below its last existing folder. Raises OSError for links that form a
        circle.
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
        """Return whether a path exists in the root, as a host sees it."""
        try:
            return self.locate(name).exists()
        except OSError:
            return False

    def user(self, name: str) -> tuple[int, int] | None:
        """Return user id and group id of a user, given by name or number; None if there is no such user.

        Of a root other than /, only its own /etc/passwd counts. A number that is not listed is in the group of that number.
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
        """Return the root's own name, e.g. `Debian GNU/Linux 13 (trixie)`."""
        for line in self._read("/etc/os-release").decode(errors="replace").splitlines():
            key, _, value = line.partition("=")
            if key == "PRETTY_NAME":
                return value.strip().strip("\"'")
        return "unknown"

    def glibc(self) -> str | None:
        """Return the version of the C library, e.g. `2.41`; None if it is not the GNU C library."""
        return next((version for name in LIBC if (version := self.version_in(name, _GLIBC))), None)

    def version_in(self, name: str, pattern: bytes) -> str | None:
        """Return the first text in a file, e.g. in a program, that the group of a regular expression matches; None
        without a match.
        """
        found = re.search(pattern, self._read(name))
        return found[1].decode() if found else None

    def _read(self, name: str) -> bytes:
        try:
            return self.locate(name).read_bytes()
        except OSError:
            return b""


THIS_COMPUTER = RootTree(Path("/"))


def open_root(path: Path) -> RootTree:
    """Return the root at a path that the user gave. Raises SimunixError if hosts could not run in it.

    A root may have another C library than GNU's, as Alpine has. The loader of such a root does not load the shim, so
    the first process of the host injects the shim.
    """
    if not path.is_dir():
        raise SimunixError(f"{path}: no such folder; make one with: simunix root make RELEASE {path} PACKAGE...")
    tree = RootTree(path.resolve())
    wanted = ("/bin/sh", "/etc/passwd") if tracing_is_allowed() else (LOADER, "/bin/sh", "/etc/passwd")
    try:
        missing = [name for name in wanted if not tree.has(name)]
    except PermissionError as error:
        raise SimunixError(f"{path}: {error.strerror}; run as a user that may read it") from error
    if missing:
        with_libc = " with the GNU C library, which is needed where ptrace(2) is forbidden" if LOADER in missing else ""
        raise SimunixError(f"{path}: not a root file system of x86-64 Linux{with_libc}: it has no {missing[0]}")
    return tree
