"""Decides which unsynced changes of files survive a power cut: by a choice for the names on each disk, and one for the
content of each file.

The choice for names says how many of the last changes of names are lost, since a journal writes changes of names in
their order. Any of the unsynced blocks of a file may be lost, whatever the order in which they were written. A lost
block has its old content again, or zeros if that part of the file did not exist. Blocks have 512 bytes (a sector, which
a disk writes whole) or 4096 bytes (a page). The file ends where its last surviving block ends.
"""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Iterator

from rsg_server.choices.places import LOSE, LOST
from rsg_server.choices.source import Choices
from rsg_server.storage.unsynced import Entry, Inode, KeptDisk, Names, Unsynced, content

MOST_UNDONE = 255
"""The most changes of names that may be lost."""
SECTOR_BYTES, PAGE_BYTES = 512, 4096


class Survivors:
    """Changes the files of hosts whose power is cut."""

    def __init__(self, choices: Choices, unsynced: Unsynced) -> None:
        self._choices, self._unsynced = choices, unsynced
        self._pinned: list[int] = []
        """Descriptors of removed files, which keep the inodes in use: another file with such an inode could get the
        removed file's times.
        """

    def power_cut(self, host: str) -> None:
        """Choose which unsynced changes a host has lost, and undo them, after its power was cut and all of its
        processes have ended.
        """
        for disk in self._unsynced.disks(host):
            disk.look(self._choices.now_ns())
            self._cut(host, disk)
            disk.begin()

    def _cut(self, host: str, disk: KeptDisk) -> None:
        disk.expire(self._choices.now_ns())
        now = disk.names
        names = self._names(host, disk)
        contents: dict[int, bytes] = {}
        for path, entry in names.items():
            if entry.inode is not None and id(entry.inode) not in contents:
                text = self._content(host, disk, path, entry.inode)
                if text is not None:
                    contents[id(entry.inode)] = text
        if names is not now:
            self._pinned += Renaming(now, names, f"{disk.folders[0]}.lost").done()
        for path, entry in names.items():
            text = contents.get(id(entry.inode))
            if text is not None and text != content(path):
                with open(path, "wb") as file:
                    file.write(text)

    def _names(self, host: str, disk: KeptDisk) -> Names:
        undoable = min(len(disk.states) - 1, MOST_UNDONE)
        if not undoable:
            return disk.names
        taken = self._choices.choose_named(LOSE, undoable + 1, f"{host} {disk.name}")
        names = disk.states[-1 - taken][1]
        if taken:
            changed = ", ".join(_differences(disk, disk.names, names))
            last = "the last change of a name" if taken == 1 else f"the last {taken} changes of names"
            what = f"the power cut of {host} loses {last} on its disk {disk.name}: {changed}"
            self._choices.note_named(LOSE, undoable + 1, taken, what)
        return names

    def _content(self, host: str, disk: KeptDisk, path: str, inode: Inode) -> bytes | None:
        """Return what a file contains after the power cut; None if its present content survives."""
        live = next((other for other, entry in disk.names.items() if entry.inode is inode), None)
        if live is None:  # the file was emptied or removed later: only its content on the disk is known
            return bytes(inode.data)
        now = content(live)
        if now is None or now == inode.data:
            return now
        taken = self._choices.choose_named(LOSE, LOST, f"{host} {disk.name} {_shown(disk, path)}")
        if not taken:
            return now
        text, lost, size = survived(now, inode.data, taken)
        what = f"the power cut of {host} loses {_ranges(lost, size)} of {_shown(disk, path)} on its disk {disk.name}"
        self._choices.note_named(LOSE, LOST, taken, what)
        return text


def blocks_of(now: bytes, disk: bytes | bytearray, size: int) -> list[int]:
    """Return the numbers of the blocks in which a file differs from its content on the disk, or behind whose beginning
    the content on the disk ends.
    """
    count = -(-max(len(now), len(disk)) // size)
    places = ((number, number * size, (number + 1) * size) for number in range(count))
    return [number for number, first, end in places if now[first:end] != disk[first:end]]


def survived(now: bytes, disk: bytes | bytearray, taken: int) -> tuple[bytes, list[int], int]:
    """Return the content of a file of which an alternative has lost some unsynced blocks; the lost blocks, and the size
    of a block.

    Alternative 1 loses all unsynced blocks, 2 all but the first, 3 only the first; each further alternative loses any,
    in blocks of one of the two sizes.
    """
    draw = random.Random(taken)
    size = SECTOR_BYTES if taken <= 3 else draw.choice((SECTOR_BYTES, PAGE_BYTES))
    unsynced = blocks_of(now, disk, size)
    part = draw.choice((0.1, 0.5, 0.9))
    lost = unsynced if taken == 1 else unsynced[1:] if taken == 2 else unsynced[:1] if taken == 3 else []
    if taken > 3:
        lost = [number for number in unsynced if draw.random() < part] or [draw.choice(unsynced)]
    gone = set(lost)
    kept = [number for number in unsynced if number not in gone]
    length = max(len(disk), min(len(now), (kept[-1] + 1) * size)) if kept else len(disk)
    text = bytearray(length)
    text[: min(len(disk), length)] = disk[:length]
    for number in kept:
        piece = now[number * size : min((number + 1) * size, length)]
        text[number * size : number * size + len(piece)] = piece
    return bytes(text), lost, size


def _ranges(lost: list[int], size: int) -> str:
    shown = [f"{number * size}-{(number + 1) * size - 1}" for number in lost[:4]]
    return f"bytes {', '.join(shown)}{f' and {len(lost) - 4} blocks more' if len(lost) > 4 else ''}"


def _shown(disk: KeptDisk, path: str) -> str:
    """Return a path relative to its mount."""
    return next((path[len(str(folder)) + 1 :] for folder in disk.folders if path.startswith(f"{folder}/")), path)


def _differences(disk: KeptDisk, now: Names, then: Names) -> Iterator[str]:
    for path in sorted({*now, *then}):
        if path not in then:
            yield f"no {_shown(disk, path)}"
        elif now.get(path) != then[path]:
            yield f"{_shown(disk, path)} is {'the earlier one' if path in now else 'there again'}"


class Renaming:
    """Gives the files on a disk their former names. Files that still exist keep their inodes. During the change, files
    have temporary names that begin with `aside`.
    """

    def __init__(self, now: Names, then: Names, aside: str) -> None:
        self._now, self._then, self._prefix = now, then, aside
        self._aside: dict[int, str] = {}  # by inode: the temporary name of its file
        self._placed: dict[int, str] = {}  # by inode: the first name that its file has got

    def done(self) -> list[int]:
        """Change the names; return descriptors of the files that have no name any more."""
        differing = [path for path, entry in self._now.items() if not _alike(entry, self._then.get(path))]
        for path in reversed(differing):
            self._take(path, self._now[path])
        for path, entry in self._then.items():
            if entry.inode is not None and path not in differing and path in self._now:
                self._placed[id(entry.inode)] = path
        for path, entry in self._then.items():
            if path in differing or path not in self._now:
                self._place(path, entry)
            if not stat.S_ISLNK(entry.mode) and os.path.exists(path):
                os.chown(path, entry.uid, entry.gid)
                os.chmod(path, stat.S_IMODE(entry.mode))
        return [_pinned(path) for path in self._aside.values()]

    def _take(self, path: str, entry: Entry) -> None:
        if stat.S_ISDIR(entry.mode):
            os.rmdir(path)
        elif entry.inode is None or id(entry.inode) in self._aside:
            os.unlink(path)
        else:
            self._aside[id(entry.inode)] = f"{self._prefix}-{len(self._aside)}"
            os.rename(path, self._aside[id(entry.inode)])

    def _place(self, path: str, entry: Entry) -> None:
        if stat.S_ISDIR(entry.mode):
            os.mkdir(path)
        elif stat.S_ISLNK(entry.mode):
            os.symlink(entry.target, path)
        elif entry.inode is None:
            return  # a FIFO, socket or device: the program that made it makes it again after the boot
        elif (placed := self._placed.get(id(entry.inode))) is not None:
            os.link(placed, path)
        else:
            self._placed[id(entry.inode)] = path
            aside = self._aside.pop(id(entry.inode), None)
            if aside is not None:
                os.rename(aside, path)
            else:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _pinned(path: str) -> int:
    """Remove a file; return a descriptor that keeps its inode in use."""
    descriptor = os.open(path, os.O_PATH)
    os.unlink(path)
    return descriptor


def _alike(entry: Entry, other: Entry | None) -> bool:
    """Return whether a name means the same file, or a folder, before and after the change."""
    if other is None or stat.S_IFMT(entry.mode) != stat.S_IFMT(other.mode):
        return False
    return stat.S_ISDIR(entry.mode) or (entry.inode is other.inode and entry.target == other.target)
