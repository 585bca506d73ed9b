"""Records which changes of files a power cut may lose: those that programs of a host have made, and that are not on the
host's own disks yet.

The real files of a run always have the content that programs see. In addition, this module stores the state on the
disk: the content of each file that was last written back or synced, and the names in the journal of the file system.
Changes of names, and truncations of files to 0 bytes, reach the disk in their order: at the latest JOURNAL_NS after
they were made, or earlier when a folder or the whole disk is synced. fsync(2) of a file brings its content to the disk,
but not its names. After a power cut each disk goes back to a state that a real disk might be in:
rsg_server/storage/survivors.py. Only runs of `simunix explore` record all this, since only they choose among such
states.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from rsg_server.protocol import Storage
from rsg_server.storage.volume import Range

JOURNAL_NS = 5 * 10**9
"""The age (virtual ns) at which a change of names is on the disk at the latest: ext4's commit=5 (ext4(5))."""
KEY_MAX = (1 << 63) - 1
Ended = Callable[[int], object]
Plan = Callable[[Callable[[], object]], None]
Names = dict[str, "Entry"]
"""The files and folders below the folders of a disk, by path; each folder comes before its content."""


@dataclass(slots=True, eq=False)
class Inode:
    """The content of a file on the disk.

    A file that was truncated to 0 bytes counts as a new file, and `emptied` is its old content.
    """

    key: int
    data: bytearray = field(default_factory=bytearray)
    emptied: Inode | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What a name stands for: a regular file has an inode, a symbolic link a target."""

    key: int
    mode: int
    uid: int
    gid: int
    inode: Inode | None = None
    target: str = ""


def key_of(status: os.stat_result) -> int:
    """Return the number by which shims name a file to the server (csrc/shim/sys/procfs/stored_mounts.c: stored_file_number)."""
    return (status.st_ino ^ status.st_dev << 40) & KEY_MAX


def content(path: str) -> bytes | None:
    """Return the content of a file; None if the file cannot be read."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read()
    except OSError:
        return None


class KeptDisk:
    """A disk of a host: the files below some folders, as programs see them and as they are on the disk."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.folders: list[Path] = []
        self.inodes: dict[int, Inode] = {}
        """The existing files, by their number."""
        self.states: list[tuple[int, Names]] = []
        """The names as they are on the disk, then the names after each later change, each with the moment of the change."""
        self.is_stale = False

    @property
    def names(self) -> Names:
        """Return the present names below the folders."""
        return self.states[-1][1]

    def begin(self) -> None:
        """Record that all files below the folders are on the disk, at the start."""
        self.inodes.clear()
        self.states = [(0, self._look())]
        for path, entry in self.names.items():
            if entry.inode is not None:
                entry.inode.data[:] = content(path) or b""

    def look(self, now_ns: int) -> None:
        """Record changes of names that a program may have made."""
        self.is_stale = False
        before, names = self.names, self._look()
        if names == before:
            return
        for path, entry in names.items():
            was = before.get(path)
            if was is not None and was.key == entry.key and was.inode is not entry.inode and entry.inode is not None:
                entry.inode.emptied = was.inode
        self.expire(now_ns)
        self.states.append((now_ns, names))

    def _look(self) -> Names:
        return {path: entry for folder in self.folders for path, entry in self._below(str(folder))}

    def _below(self, folder: str) -> Iterator[tuple[str, Entry]]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:  # the folder was removed, or is another user's
            return
        for found in entries:
            try:
                status = found.stat(follow_symlinks=False)
                target = os.readlink(found.path) if stat.S_ISLNK(status.st_mode) else ""
            except OSError:
                continue
            key = key_of(status)
            inode = self.inodes.setdefault(key, Inode(key)) if stat.S_ISREG(status.st_mode) else None
            yield found.path, Entry(key, status.st_mode, status.st_uid, status.st_gid, inode, target)
            if stat.S_ISDIR(status.st_mode):
                yield from self._below(found.path)

    def expire(self, now_ns: int) -> None:
        """Forget those states of names for which a later state is in the journal by now."""
        while len(self.states) > 1 and self.states[1][0] <= now_ns - JOURNAL_NS:
            del self.states[0]

    def commit(self) -> None:
        """Record that all changes of names are on the disk."""
        del self.states[:-1]

    def cut(self, key: int, size: int) -> None:
        """Record that a file is shorter now; with size 0 the file is empty, new, or removed."""
        inode = self.inodes.get(key)
        if size == 0:
            self.inodes.pop(key, None)
            self.is_stale = True
        elif inode is not None:
            del inode.data[size:]

    def written(self, inode: Inode, ranges: Iterable[Range]) -> None:
        """Record that the present content of these ranges of a file is on the disk."""
        path = self._path(inode)
        now = content(path) if path is not None else None
        if now is None:
            return
        for first, end in ranges:
            piece = now[first:end]
            if first > len(inode.data):
                inode.data.extend(bytes(first - len(inode.data)))
            inode.data[first : first + len(piece)] = piece

    def _path(self, inode: Inode) -> str | None:
        return next((path for path, entry in self.names.items() if entry.inode is inode), None)

    def synced(self, key: int) -> None:
        """Record that a file or folder was synced: a file's length is then on the disk (also a truncation to 0 bytes),
        a folder's names.
        """
        inode = self.inodes.get(key)
        if inode is None:
            if any(stat.S_ISDIR(entry.mode) and entry.key == key for entry in self.names.values()) or self._is_top(key):
                self.commit()
            return
        path = self._path(inode)
        size = os.stat(path).st_size if path is not None and os.path.exists(path) else len(inode.data)
        inode.data[size:] = bytes(max(0, size - len(inode.data)))
        before, inode.emptied = inode.emptied, None
        while before is not None:
            for _, names in self.states:
                names.update({path: replace(entry, inode=inode) for path, entry in names.items() if entry.inode is before})
            before = before.emptied

    def _is_top(self, key: int) -> bool:
        return any(folder.exists() and key_of(folder.stat()) == key for folder in self.folders)


def _noted(plan: Plan, note: Callable[[], None], finished: Callable[[], object]) -> None:
    def end() -> None:
        note()
        finished()

    plan(end)


class Unsynced:
    """The disks of all hosts whose files a power cut may change. `now_ns` returns the virtual time."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._disks: dict[str, dict[int, KeptDisk]] = {}

    def keep(self, host: str, number: int, name: str, folder: Path) -> None:
        """Note that the files below a folder are on a disk of the host itself."""
        disk = self._disks.setdefault(host, {}).setdefault(number, KeptDisk(name))
        if folder not in disk.folders:
            disk.folders.append(folder)
            disk.begin()

    def disks(self, host: str) -> list[KeptDisk]:
        """Return the disks of a host, in the order of their numbers."""
        return [disk for _, disk in sorted(self._disks.get(host, {}).items())]

    def cut(self, host: str, key: int, size: int) -> None:
        """Record that a file of a host is shorter now; with size 0 the file is empty, new, or removed."""
        for disk in self.disks(host):
            disk.cut(key, size)

    def changed(self, host: str, number: int, is_open: bool) -> None:
        """Record changes of names on a disk that a program may have made; open(2) changes names only if it has made or
        emptied the file.
        """
        disk = self._disks.get(host, {}).get(number)
        if disk is not None and (disk.is_stale or not is_open):
            disk.look(self._now_ns())

    def told(self, host: str, number: int, what: int, key: int, end: int, plan: Plan | None) -> Plan | None:
        """Handle a program's request about a file (enum simunix_storage); `plan` is the operation for which the program
        has to wait, if any. Return the plan, extended so that the effect on the disk is recorded at its end. If the
        program cuts a file, `end` is the file's new length. If the program syncs whole disks, `end` is 0 for one disk
        (syncfs(2)), 1 for all disks of the host (sync(2)).
        """
        if what == Storage.CUT:
            self.cut(host, key, end)
        elif what in (Storage.CHANGE, Storage.LOOK):
            self.changed(host, number, what == Storage.LOOK)
        elif what in (Storage.SYNC, Storage.ALL):
            note = (
                partial(self.synced, host, number, key)
                if what == Storage.SYNC
                else partial(self.all_synced, host, None if end else number)
            )
            if plan is not None:
                return partial(_noted, plan, note)
            note()
        return plan

    def after(self, host: str, number: int, key: int, ranges: Sequence[Range], ended: Callable[[int], object]) -> Ended:
        """Note that ranges of a file begin to be written to a disk.

        Return the function to call at the end, in place of `ended`.
        """
        disk = self._disks.get(host, {}).get(number)
        inode = disk.inodes.get(key) if disk is not None else None

        def end(error: int) -> None:
            if disk is not None and inode is not None and not error:
                disk.written(inode, ranges)
            ended(error)

        return end

    def synced(self, host: str, number: int, key: int) -> None:
        """Record that a file or folder of a disk was synced."""
        disk = self._disks.get(host, {}).get(number)
        if disk is not None:
            disk.synced(key)

    def all_synced(self, host: str, number: int | None) -> None:
        """Record that all changes of files on one disk, or on each disk of a host, are on the disk."""
        for other, disk in self._disks.get(host, {}).items():
            if number in (None, other):
                disk.commit()
                for key in list(disk.inodes):
                    disk.synced(key)

    def unmounted(self, host: str) -> None:
        """Record that all written bytes of a host are on its disks, because the host was shut down and not cut off."""
        for disk in self.disks(host):
            disk.begin()
