"""Finds out which control files have changed since a process read them, for poll(2): POLLPRI (cgroups(7), cgroup.events).

Programs read the real files through the kernel. The server does not see a read itself, only the call before the read:
open, a seek to the beginning, or pread64. The position of the descriptor says how much was read. Linux keeps such a
record for each open file; simunix keeps one for each process and file.
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
    """Which change of a control file a process has read last.

    `read` is the number of the change that the process has read last, `offered` that of the change which its next read
    will find.
    """

    read: int = 0
    offered: int = 0


class News:
    """The changes of the control files of one host, and the actors (threads) that the next change of a file wakes.

    Each file is named by its inode.
    """

    def __init__(self, wake: Callable[[Actor, int], bool]) -> None:
        self._wake = wake
        self._changes: dict[int, int] = {}
        self._marks: dict[int, dict[int, Mark]] = {}  # by the file's inode, then by the process's number
        # by the file's inode, then by the actor's number, in the order in which they asked
        self._waiting: dict[int, dict[int, Actor]] = {}

    def changed(self, inode: int) -> None:
        """Count a change of a control file, and wake the actors that poll this file."""
        self._changes[inode] = self._changes.get(inode, 0) + 1
        for actor in self._waiting.pop(inode, {}).values():
            if isinstance(actor.parked, DescriptorWait):
                self._wake(actor, WAKE_READY)

    def gone(self, inode: int) -> None:
        """Forget the changes of a control file that has been removed."""
        self._changes.pop(inode, None)
        self._marks.pop(inode, None)
        self._waiting.pop(inode, None)

    def reads(self, process: Process, inode: int, how: int) -> None:
        """Note that a process is about to read a control file. `how` is a value of enum simunix_cgroup_read."""
        if inode not in self._changes:
            return
        mark = self._marks.setdefault(inode, {}).setdefault(process.number, Mark())
        if how == CGROUP_READ_AGAIN:
            mark.read = mark.offered
        mark.offered = self._changes[inode]
        if how == CGROUP_READ_NOW:
            mark.read = mark.offered

    def are_there(self, actor: Actor, inode: int, is_unread: bool) -> bool:
        """Return whether a control file has changed since an actor's process read it; if not, the next change wakes the actor.

        `is_unread` says that the process has not read the file since the server was last asked this.
        """
        if inode not in self._changes:
            return False
        mark = self._marks.setdefault(inode, {}).setdefault(actor.process.number, Mark())
        if not is_unread:
            mark.read = mark.offered
        if mark.read < self._changes[inode]:
            return True
        self._waiting.setdefault(inode, {})[actor.number] = actor
        return False
