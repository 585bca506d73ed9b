"""What a power cut may lose: what the programs of a host have written to its own disks, and what is not on these disks yet.

The files of a run are always as programs see them. Beside them this module keeps what is on the disk: of each file the content
that was last written back or synced, and the names as the journal of the file system has them. Changes of names and empties of
files reach the disk in their order, at the latest JOURNAL_NS after they were made, or when a folder or all is synced. fsync(2)
of a file brings its content to the disk, but not its names. After a power cut each disk goes back to a state that it may have
been in: rsg_server/storage/survivors.py. Only runs that explore keep this, since only they choose.
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
"""How old a change of names can be at most that is not on the disk: ext4's commit=5 (ext4(5))."""
KEY_MAX = (1 << 63) - 1
Ended = Callable[[int], object]
Plan = Callable[[Callable[[], object]], None]
Names = dict[str, "Entry"]
"""What is below the folders of a disk, by path; a folder comes before what is in it."""


@dataclass(slots=True, eq=False)
class Inode:
    """The content of a file on the disk. A file that has been emptied counts as another one, of which `emptied` is known."""

    key: int
    data: bytearray = field(default_factory=bytearray)
    emptied: Inode | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What a name is of: a regular file has an inode, a symbolic link a target."""

    key: int
    mode: int
    uid: int
    gid: int
    inode: Inode | None = None
    target: str = ""


def key_of(status: os.stat_result) -> int:
    """The number by which programs name a file to the server: csrc/shim/sys/procfs/stored_mounts.c: stored_file_number."""
    return (status.st_ino ^ status.st_dev << 40) & KEY_MAX


def content(path: str) -> bytes | None:
    """The content of a file; None if it cannot be read."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read()
    except OSError:
        return None


class KeptDisk:
    """A disk of a host: the files below some folders as they are, and as they are on the disk."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.folders: list[Path] = []
        self.inodes: dict[int, Inode] = {}
        """By number, the files that exist."""
        self.states: list[tuple[int, Names]] = []
        """The names on the disk, and as they were after each later change, with the moment of that change."""
        self.is_stale = False

    @property
    def names(self) -> Names:
        """The names as they are."""
        return self.states[-1][1]

    def begin(self) -> None:
        """All that is below the folders is on the disk."""
        self.inodes.clear()
        self.states = [(0, self._look())]
        for path, entry in self.names.items():
            if entry.inode is not None:
                entry.inode.data[:] = content(path) or b""

    def look(self, now_ns: int) -> None:
        """Names may have changed."""
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
        """Forget states of which the journal has a later one by now."""
        while len(self.states) > 1 and self.states[1][0] <= now_ns - JOURNAL_NS:
            del self.states[0]

    def commit(self) -> None:
        """All changes of names are on the disk."""
        del self.states[:-1]

    def cut(self, key: int, size: int) -> None:
        """A file is shorter now; with size 0 it is empty, new, or gone."""
        inode = self.inodes.get(key)
        if size == 0:
            self.inodes.pop(key, None)
            self.is_stale = True
        elif inode is not None:
            del inode.data[size:]

    def written(self, inode: Inode, ranges: Iterable[Range]) -> None:
        """What is in these ranges of a file now is on the disk."""
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
        """A file or folder has been synced: the length of the file, and that it was emptied; or the names."""
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
    """The disks of all hosts whose files a power cut may change. `now_ns` tells the virtual time."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._disks: dict[str, dict[int, KeptDisk]] = {}

    def keep(self, host: str, number: int, name: str, folder: Path) -> None:
        """Files below a folder are on a disk of the host's own."""
        disk = self._disks.setdefault(host, {}).setdefault(number, KeptDisk(name))
        if folder not in disk.folders:
            disk.folders.append(folder)
            disk.begin()

    def disks(self, host: str) -> list[KeptDisk]:
        """The disks of a host, in the order of their numbers."""
        return [disk for _, disk in sorted(self._disks.get(host, {}).items())]

    def cut(self, host: str, key: int, size: int) -> None:
        """A file of a host is shorter; with size 0 it is empty, new, or gone."""
        for disk in self.disks(host):
            disk.cut(key, size)

    def changed(self, host: str, number: int, is_open: bool) -> None:
        """Names on a disk may have changed; by the opening of a file only if that has made or emptied the file."""
        disk = self._disks.get(host, {}).get(number)
        if disk is not None and (disk.is_stale or not is_open):
            disk.look(self._now_ns())

    def told(self, host: str, number: int, what: int, key: int, end: int, plan: Plan | None) -> Plan | None:
        """A program does something to a file (enum simunix_storage), and has to wait for a plan, if there is one.

        Returns the plan with what is to be noted at its end. If the program cuts a file, `end` is the file's new
        length. If the program syncs whole disks, `end` is 0 for one disk (syncfs(2)), 1 for all disks of the host (sync(2)).
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
        """Ranges of a file begin to be written to a disk. Returns what is to be called at the end instead of `ended`."""
        disk = self._disks.get(host, {}).get(number)
        inode = disk.inodes.get(key) if disk is not None else None

        def end(error: int) -> None:
            if disk is not None and inode is not None and not error:
                disk.written(inode, ranges)
            ended(error)

        return end

    def synced(self, host: str, number: int, key: int) -> None:
        """A file or folder of a disk has been synced."""
        disk = self._disks.get(host, {}).get(number)
        if disk is not None:
            disk.synced(key)

    def all_synced(self, host: str, number: int | None) -> None:
        """What has been changed on a disk, or on each disk of a host, has been brought there."""
        for other, disk in self._disks.get(host, {}).items():
            if number in (None, other):
                disk.commit()
                for key in list(disk.inodes):
                    disk.synced(key)

    def unmounted(self, host: str) -> None:
        """A host has been shut down in good order: all that was written is on its disks."""
        for disk in self.disks(host):
            disk.begin()
