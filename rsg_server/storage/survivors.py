"""What is left of unsynced changes after a power cut: a choice for the names of each disk, and one for each file.

Of the changes of names the last ones are lost, as many as is chosen: a journal has them in their order. Of a file any of the
unsynced blocks may be lost, whatever the order in which they were written: what was there before is there again, or zeros in
a part of the file that did not exist. Blocks have 512 bytes, the part that a disk writes whole, or 4096, those of a page. The
file ends where its last surviving block ends.
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
"""How many changes of names may be lost at most."""
SECTOR_BYTES, PAGE_BYTES = 512, 4096


class Survivors:
    """Changes the files of hosts whose power is cut."""

    def __init__(self, choices: Choices, unsynced: Unsynced) -> None:
        self._choices, self._unsynced = choices, unsynced
        self._pinned: list[int] = []
        """Descriptors of files that are gone: their inodes are not given to other files, which could get their times."""

    def power_cut(self, host: str) -> None:
        """The power of a host has been cut, and none of its processes is left. Choose what is lost, and lose it."""
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
        """What a file contains after the cut; None if it contains what it contains now."""
        live = next((other for other, entry in disk.names.items() if entry.inode is inode), None)
        if live is None:  # it was emptied or removed later: nothing but what is on the disk is known
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
    """The numbers of the blocks in which a file differs from what is on the disk, or behind whose begin it ends there."""
    count = -(-max(len(now), len(disk)) // size)
    places = ((number, number * size, (number + 1) * size) for number in range(count))
    return [number for number, first, end in places if now[first:end] != disk[first:end]]


def survived(now: bytes, disk: bytes | bytearray, taken: int) -> tuple[bytes, list[int], int]:
    """The content of a file of whose unsynced blocks an alternative loses some; the lost blocks, and the size of a block.

    Alternative 1 loses all, 2 all but the first, 3 only the first; each further one any, in blocks of one of both sizes.
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
    """A path as it is below its mount."""
    return next((path[len(str(folder)) + 1 :] for folder in disk.folders if path.startswith(f"{folder}/")), path)


def _differences(disk: KeptDisk, now: Names, then: Names) -> Iterator[str]:
    for path in sorted({*now, *then}):
        if path not in then:
            yield f"no {_shown(disk, path)}"
        elif now.get(path) != then[path]:
            yield f"{_shown(disk, path)} is {'the earlier one' if path in now else 'there again'}"


class Renaming:
    """Changes the names on a disk to what they were. Files keep their inodes as far as they still exist.

    `aside` is the begin of names that files have meanwhile.
    """

    def __init__(self, now: Names, then: Names, aside: str) -> None:
        self._now, self._then, self._prefix = now, then, aside
        self._aside: dict[int, str] = {}  # by inode, where its file lies meanwhile
        self._placed: dict[int, str] = {}  # by inode, the first name that its file has got

    def done(self) -> list[int]:
        """Change the names; returns descriptors of the files that no longer have a name."""
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
            return  # a FIFO, socket or device: what made it makes it again
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
    """Remove a file; returns a descriptor that keeps its inode."""
    descriptor = os.open(path, os.O_PATH)
    os.unlink(path)
    return descriptor


def _alike(entry: Entry, other: Entry | None) -> bool:
    """Whether a name is of one file, or of a folder, before and after."""
    if other is None or stat.S_IFMT(entry.mode) != stat.S_IFMT(other.mode):
        return False
    return stat.S_ISDIR(entry.mode) or (entry.inode is other.inode and entry.target == other.target)
