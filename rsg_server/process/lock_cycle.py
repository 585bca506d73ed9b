"""Cycles of processes that wait for each other's record locks: fcntl(2) refuses the wait that closes a cycle, EDEADLK."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rsg_server.protocol import LOCK_WAITS, Space, Wait

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor, Parked
    from rsg_server.process.process import Process

_PID = LOCK_WAITS - 1
"""Mask of the holder's pid in `c` of a wait for a lock."""


def closes_cycle(actor: Actor, parked: Parked) -> bool:
    """Whether the holder of the lock that an actor is about to wait for waits, directly or not, for the actor's own process."""
    processes = actor.process.host.processes
    seen: set[int] = set()
    next_pids = [parked.c & _PID]
    while next_pids:
        pid = next_pids.pop()
        if pid in seen or pid not in processes:
            continue
        if processes[pid] is actor.process:
            return True
        seen.add(pid)
        next_pids.extend(_waited_for(processes[pid]))
    return False


def _waited_for(process: Process) -> Iterator[int]:
    """Pids of the holders of the locks that threads of a process wait for."""
    for actor in process.actors:
        parked = actor.parked
        if parked is not None and parked.wait == Wait.FUTEX and parked.a == Space.LOCKS:
            yield parked.c & _PID
