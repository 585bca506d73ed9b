"""PID namespaces that programs make within their host's: who is in one, and how one ends (pid_namespaces(7)).

When process 1 of such a namespace ends, the kernel kills all others in it and in the namespaces within, and process 1 is gone only
once all of them are. So a death of process 1 is a death of all, in the order of their numbers, process 1 last.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rsg_server.process import zombies

if TYPE_CHECKING:
    from rsg_server.process.process import Process


def enter(process: Process, reaper: int) -> None:
    """Note the namespace that a process is in, by the host's number of that namespace's process 1."""
    if reaper == process.pid and process.reaper is not process:
        process.outside = process.parent.reaper if process.parent is not None else None
    process.reaper = process.host.processes.get(reaper)


def members(reaper: Process) -> list[Process]:
    """All other processes of a namespace and those within it, in the order of their numbers."""
    inside = [other for other in reaper.host.processes.values() if other is not reaper and other.is_within(reaper)]
    return sorted(inside, key=lambda process: process.number)


def with_members(dying: Sequence[Process]) -> list[Process]:
    """Who dies where these do: before each process 1 of a namespace the members of that."""
    found: dict[Process, None] = {}
    for process in dying:
        if process.reaper is process:
            for member in members(process):
                member.told |= 1 << (signal.SIGKILL - 1)
                found[member] = None
            found.pop(process, None)
        found[process] = None
    return list(found)


def awaited(reaper: Process, dead: Sequence[Process]) -> list[zombies.Zombie]:
    """The dead members for which a process 1 has to wait, as their parents outside are to wait for them (setns(2), and a birth)."""
    inside = [process for process in dead if process.is_within(reaper) and process is not reaper]
    return [
        zombies.zombie_of(process) for process in inside if zombies.is_kept(process) and not _parent_is_within(process, reaper)
    ]


def _parent_is_within(process: Process, reaper: Process) -> bool:
    return process.parent is not None and process.parent.is_within(reaper)
