"""Orphans: processes whose parent has died. The kernel gives them a new parent, and may send signals to their group.

In a PID namespace that a program has made, the new parent is process 1 (pid_namespaces(7)). When process 1 ends, the
kernel kills all others in the namespace and in the namespaces within, and process 1 is gone only once all of them are.
So when process 1 dies, the server lets all members die in the order of their numbers, process 1 last.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rsg_server.process.life import zombies

if TYPE_CHECKING:
    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals


def hang_up_orphans(signals: Signals, host: HostState) -> None:
    """Continue, for the server, the processes that the kernel has continued because a death has orphaned their group
    (setpgid(2)).

    If a member of such a group is stopped, the kernel sends SIGHUP and SIGCONT to all members, so that the stopped one
    runs again. This function records in the server that the members run again, and wakes the actors that take the two signals.
    """
    stopped = [process for process in host.processes.values() if process.stopped]
    groups = {process.group() for process in stopped if process.status_fields().get("State", "T")[0] not in "Tt"}
    if not groups:
        return
    for process in sorted(host.processes.values(), key=lambda process: process.number):
        if process.group() in groups:
            signals.resume(process)
            signals.notice(process, signal.SIGHUP)
            signals.notice(process, signal.SIGCONT)


def reparent(orphan: Process) -> None:
    """Record the parent that the kernel has given an orphan: a subreaper among its ancestors, or None for the host's init."""
    parent_pid = int(orphan.status_fields().get("PPid", "0"))
    known = (other for other in orphan.host.processes.values() if parent_pid and other.global_pid == parent_pid)
    orphan.parent = next(known, None)
    if orphan.parent is not None:
        orphan.parent.children.append(orphan)


def is_orphaned_group(process: Process) -> bool:
    """Return whether a process group is orphaned: no member has a parent in another group of the same session (setpgid(2)).

    A parent that is no emulated process, such as the host's init, counts as in another session.
    """
    group, session = process.group(), process.session()
    members = [other for other in process.host.processes.values() if other.group() == group]
    parents = [other.parent for other in members if other.parent is not None]
    return not any(parent.group() != group and parent.session() == session for parent in parents)


# PID namespaces that programs of a host have made


def enter_namespace(process: Process, reaper: int) -> None:
    """Record the PID namespace of a process; `reaper` is the pid, on the host, of the namespace's first process."""
    if reaper == process.pid and process.reaper is not process:
        process.outside = process.parent.reaper if process.parent is not None else None
    process.reaper = process.host.processes.get(reaper)


def members_of_namespace(reaper: Process) -> list[Process]:
    """Return all other processes of a PID namespace and of the namespaces within it, in the order of their numbers."""
    inside = [other for other in reaper.host.processes.values() if other is not reaper and other.is_within(reaper)]
    return sorted(inside, key=lambda process: process.number)


def with_members(dying: Sequence[Process]) -> list[Process]:
    """Return all processes that die when the given ones die.

    Before each first process of a PID namespace come all members of the namespace.
    """
    found: dict[Process, None] = {}
    for process in dying:
        if process.reaper is process:
            for member in members_of_namespace(process):
                member.told |= 1 << (signal.SIGKILL - 1)
                found[member] = None
            found.pop(process, None)
        found[process] = None
    return list(found)


def awaited(reaper: Process, dead: Sequence[Process]) -> list[zombies.Zombie]:
    """Return the dead members of a PID namespace for which parents outside must wait (setns(2)) before its first
    process ends.
    """
    inside = [process for process in dead if process.is_within(reaper) and process is not reaper]
    return [
        zombies.zombie_of(process) for process in inside if zombies.is_kept(process) and not _parent_is_within(process, reaper)
    ]


def _parent_is_within(process: Process, reaper: Process) -> bool:
    return process.parent is not None and process.parent.is_within(reaper)
