"""The real folders and files of a host's cgroups, which programs of the host see in a tmpfs that its init has mounted.

The server reaches them by a descriptor of the topmost folder, whatever the host's programs have mounted over it. A
server that runs as an ordinary user owns the files, but the files' modes forbid the owner to write. So the server
changes the mode of a file for the time of a write. If the host is contained (has a user namespace), the file system
takes no file of a user whom the host does not know. So the server makes each file of such a host under the user id of
the folder's owner (setfsuid(2)).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from array import array
from collections.abc import Iterable, Iterator, Sequence

from rsg_server._native import ffi, lib
from rsg_server.file_owner import making_as


def _packed(texts: Iterable[str]) -> bytes:
    """Return texts as C reads them: joined, with a NUL at the end of each."""
    return "".join(f"{text}\0" for text in texts).encode()


def _check(result: int) -> None:
    """Raise OSError if the result of a C function is negative, which is then -errno."""
    if result < 0:
        raise OSError(-result, os.strerror(-result))


class RealFiles:
    """The folders and control files of one host, each named by its path below the topmost folder, without a slash at
    the start.
    """

    def __init__(self, folder: int) -> None:
        self._folder = folder

    def inode(self) -> int:
        """Return the inode number of the topmost folder."""
        return os.fstat(self._folder).st_ino

    def listing(self, path: str, folders: bool = False) -> dict[str, int]:
        """Return the control files of a folder, or the folders in it: the inode number of each by its name."""
        opened = os.open(f"./{path}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._folder)
        try:
            with os.scandir(opened) as entries:
                return {entry.name: entry.inode() for entry in entries if entry.is_dir(follow_symlinks=False) == folders}
        finally:
            os.close(opened)

    def owner(self, path: str) -> tuple[int, int]:
        """Return the user id and the group id of a folder or file, as the server's kernel has them."""
        status = os.stat(f"./{path}", dir_fd=self._folder, follow_symlinks=False)
        return status.st_uid, status.st_gid

    def make(self, path: str, files: Sequence[tuple[str, int, str]], owner: tuple[int, int]) -> list[int]:
        """Make control files in a folder, each given by name, mode and initial text. Return their inode numbers."""
        names, count = _packed([name for name, _, _ in files]), len(files)
        texts, modes = _packed([text for _, _, text in files]), array("I", [mode for _, mode, _ in files])
        inodes, maker = ffi.new("uint64_t[]", count), self._maker(path)
        with self._opened(path) as folder:
            with making_as(maker):
                _check(lib.control_files_make(folder, names, texts, ffi.from_buffer("uint32_t[]", modes), count, inodes))
            if owner != maker:
                _check(lib.control_files_give(folder, names, count, *owner))
        return list(inodes)

    @contextlib.contextmanager
    def _opened(self, path: str) -> Iterator[int]:
        """Open a folder, and yield its descriptor; it is closed when the `with` block ends."""
        folder = os.open(f"./{path}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._folder)
        try:
            yield folder
        finally:
            os.close(folder)

    def _maker(self, path: str) -> tuple[int, int]:
        """Return the user and group id under which a new file is made.

        A file is made under the server's own ids if the file system knows these, else under the ids of the folder's owner.
        """
        own = os.geteuid(), os.getegid()
        return own if os.fstat(self._folder).st_uid == own[0] else self.owner(path)

    def remove(self, path: str, names: Sequence[str]) -> None:
        """Remove those of the given control files of a folder that still exist."""
        with contextlib.suppress(FileNotFoundError), self._opened(path) as folder:
            _check(lib.control_files_remove(folder, _packed(names), len(names)))

    def remove_folder(self, path: str) -> None:
        """Remove a folder whose control files have been removed."""
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(f"./{path}", dir_fd=self._folder)

    def put(self, path: str, text: str) -> None:
        """Replace the text of a file by one write, so that no reader sees half of the new text."""
        at, content = os.fsencode(f"./{path}"), text.encode()
        result = lib.control_file_put(self._folder, at, content, len(content))
        if result in (-errno.EACCES, -errno.EPERM):
            with self._writable(path):
                result = lib.control_file_put(self._folder, at, content, len(content))
        _check(result)

    @contextlib.contextmanager
    def _writable(self, path: str) -> Iterator[None]:
        """Inside of the `with` block, let the owner of a file write to it."""
        at = f"/proc/self/fd/{self._folder}/{path}"
        mode = os.stat(at).st_mode
        os.chmod(at, mode | stat.S_IWUSR)
        try:
            yield
        finally:
            os.chmod(at, mode)

    def close(self) -> None:
        """Close the descriptor of the topmost folder."""
        os.close(self._folder)
