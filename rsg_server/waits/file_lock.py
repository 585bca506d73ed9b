"""Waits for locks of files. A wait that would close a cycle of processes that wait for each other's locks is refused."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rsg_server.process.wait import DescriptorWords
from rsg_server.protocol import LOCK_WAITS, WAKE_READY
from rsg_server.waits.futex import FutexWait

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.futex import FutexTable
    from rsg_server.process.process import Process

_PID: Final = LOCK_WAITS - 1
"""The mask for the pid of a record lock's holder in the bitset of a wait for a lock."""
_DETAIL: Final = 32


class FileLockWait(FutexWait):
    """A wait that ends when a lock of the file `fd` is released. `holder` is the pid that has the record lock, 0 if unknown."""

    __slots__ = ("fd", "holder")

    def __init__(self, futexes: FutexTable, space: int, word: int, bitset: int) -> None:
        super().__init__(futexes, space, word, bitset)
        self.fd, self.holder = bitset >> _DETAIL, bitset & _PID

    def prepare(self, actor: Actor) -> tuple[int, int] | None:
        """Return EDEADLK for an actor whose wait would close a cycle (fcntl(2), F_SETLKW), else None."""
        if self.over() is None and self._closes_cycle(actor):
            return WAKE_READY, -errno.EDEADLK
        return None

    def _closes_cycle(self, actor: Actor) -> bool:
        """Return whether the process that has the lock waits, directly or through others, for the actor's own process."""
        processes = actor.process.host.processes
        seen: set[int] = set()
        next_pids = [self.holder]
        while next_pids:
            pid = next_pids.pop()
            if pid in seen or pid not in processes:
                continue
            if processes[pid] is actor.process:
                return True
            seen.add(pid)
            next_pids.extend(_waited_for(processes[pid]))
        return False

    def lock_holder(self) -> int:
        return self.holder

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        return f"a lock of descriptor {self.fd} ({descriptors.describe(actor.process, self.fd)})"


def _waited_for(process: Process) -> Iterator[int]:
    """Yield the pids of the processes that have the locks for which threads of a process wait."""
    for actor in process.actors:
        holder = 0 if actor.parked is None else actor.parked.lock_holder()
        if holder:
            yield holder
