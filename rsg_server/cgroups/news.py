"""Knows which control files have changed since a process read them: poll(2) reports POLLPRI (cgroups(7), cgroup.events).

The kernel reads the real files, so the server sees only what comes before a read: an open, a seek to the beginning,
pread64. What has been read by then follows from the position of the descriptor. Linux records this for each open file; here
it is recorded for each process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rsg_server.process.actor import Actor
from rsg_server.process.process import Process
from rsg_server.protocol import CGROUP_READ_AGAIN, CGROUP_READ_NOW, WAKE_READY
from rsg_server.waits.descriptors import DescriptorWait


@dataclass(slots=True)
class Mark:
    """For a process and a file: the number of the file's change that was read last, and of the one that a read would find."""

    read: int = 0
    offered: int = 0


class News:
    """The changes of one host's files, by inode, and the actors that the next change wakes."""

    def __init__(self, wake: Callable[[Actor, int], bool]) -> None:
        self._wake = wake
        self._changes: dict[int, int] = {}
        self._marks: dict[int, dict[int, Mark]] = {}  # by inode, then by the number of the process
        self._waiting: dict[int, dict[int, Actor]] = {}  # by inode, then by the actor's number, in the order of asking

    def changed(self, inode: int) -> None:
        """Count a change of a file, and wake the actors that have asked and wait for descriptors."""
        self._changes[inode] = self._changes.get(inode, 0) + 1
        for actor in self._waiting.pop(inode, {}).values():
            if isinstance(actor.parked, DescriptorWait):
                self._wake(actor, WAKE_READY)

    def gone(self, inode: int) -> None:
        """Forget a file that has been removed."""
        self._changes.pop(inode, None)
        self._marks.pop(inode, None)
        self._waiting.pop(inode, None)

    def reads(self, process: Process, inode: int, how: int) -> None:
        """Note that a process is about to read a file; see enum simunix_cgroup_read."""
        if inode not in self._changes:
            return
        mark = self._marks.setdefault(inode, {}).setdefault(process.number, Mark())
        if how == CGROUP_READ_AGAIN:
            mark.read = mark.offered
        mark.offered = self._changes[inode]
        if how == CGROUP_READ_NOW:
            mark.read = mark.offered

    def are_there(self, actor: Actor, inode: int, is_unread: bool) -> bool:
        """Whether a file has changed since an actor's process read it; `is_unread`: nothing was read since the last look."""
        if inode not in self._changes:
            return False
        mark = self._marks.setdefault(inode, {}).setdefault(actor.process.number, Mark())
        if not is_unread:
            mark.read = mark.offered
        if mark.read < self._changes[inode]:
            return True
        self._waiting.setdefault(inode, {})[actor.number] = actor
        return False
