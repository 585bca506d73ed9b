"""The real folders and files of a host's cgroups, in a tmpfs that the host's init has mounted: what hosts see of the tree.

The server reaches them by a descriptor of the topmost folder, whatever the host's programs have mounted over it. An ordinary
user's server owns the files, but is stopped by their modes, which it therefore changes for a moment. A contained host's
file system has no files with an id that the host does not know: the server makes them as the owner of the folder (setfsuid(2)).
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable

from rsg_server.file_owner import making_as

_WRITE = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW


class RealFiles:
    """Folders by their paths below the topmost one, without a slash at the beginning."""

    def __init__(self, folder: int) -> None:
        self._folder = folder

    def inode(self) -> int:
        """The number of the topmost folder."""
        return os.fstat(self._folder).st_ino

    def listing(self, path: str, folders: bool = False) -> dict[str, int]:
        """The control files of a folder, or the folders there: inodes by name."""
        opened = os.open(f"./{path}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._folder)
        try:
            with os.scandir(opened) as entries:
                return {entry.name: entry.inode() for entry in entries if entry.is_dir(follow_symlinks=False) == folders}
        finally:
            os.close(opened)

    def owner(self, path: str) -> tuple[int, int]:
        """User and group of a folder or file, as the server sees them."""
        status = os.stat(f"./{path}", dir_fd=self._folder, follow_symlinks=False)
        return status.st_uid, status.st_gid

    def make(self, path: str, files: Iterable[tuple[str, int]], owner: tuple[int, int]) -> None:
        """Make control files (name and mode) in a folder."""
        maker, names = self._maker(path), []
        with making_as(maker):
            for name, mode in files:
                names.append(f"./{path}/{name}")
                os.mknod(names[-1], stat.S_IFREG | mode, dir_fd=self._folder)
        if owner != maker:
            for at in names:
                os.chown(at, *owner, dir_fd=self._folder, follow_symlinks=False)

    def _maker(self, path: str) -> tuple[int, int]:
        """Whom a new file belongs to: the server, if the file system knows its id."""
        own = os.geteuid(), os.getegid()
        return own if os.fstat(self._folder).st_uid == own[0] else self.owner(path)

    def remove(self, path: str, names: Iterable[str]) -> None:
        """Remove control files."""
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"./{path}/{name}", dir_fd=self._folder)

    def remove_folder(self, path: str) -> None:
        """Remove a folder that has no files any more."""
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(f"./{path}", dir_fd=self._folder)

    def put(self, path: str, text: str) -> None:
        """Replace what a file says, in one change."""
        content = text.encode()
        try:
            opened = os.open(f"./{path}", _WRITE, dir_fd=self._folder)
        except PermissionError:
            opened = self._open_own(path)
        try:
            os.pwrite(opened, content, 0)
            if os.fstat(opened).st_size > len(content):
                os.ftruncate(opened, len(content))
        finally:
            os.close(opened)

    def _open_own(self, path: str) -> int:
        at = f"/proc/self/fd/{self._folder}/{path}"
        mode = os.stat(at).st_mode
        os.chmod(at, mode | stat.S_IWUSR)
        try:
            return os.open(at, _WRITE)
        finally:
            os.chmod(at, mode)

    def close(self) -> None:
        """Give up the descriptor."""
        os.close(self._folder)
