"""Orphans: processes whose parent has died. The kernel gives them a new parent, and may send signals to their group."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals


def hang_up_orphans(signals: Signals, host: HostState) -> None:
    """Follow the kernel where a death has orphaned a process group (setpgid(2)).

    If a member of such a group is stopped, the kernel sends SIGHUP and SIGCONT to all members: the server still takes that
    member for stopped, while the kernel runs it.
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
    """Note the parent that the kernel has given an orphan: a subreaper among its ancestors, or none for the host's init."""
    parent_pid = int(orphan.status_fields().get("PPid", "0"))
    known = (other for other in orphan.host.processes.values() if parent_pid and other.global_pid == parent_pid)
    orphan.parent = next(known, None)
    if orphan.parent is not None:
        orphan.parent.children.append(orphan)


def is_orphaned_group(process: Process) -> bool:
    """Whether no member of a process's group has a parent in another group of the same session (setpgid(2)).

    A parent that is no emulated process, such as the host's init, is in another session.
    """
    group, session = process.group(), process.session()
    members = [other for other in process.host.processes.values() if other.group() == group]
    parents = [other.parent for other in members if other.parent is not None]
    return not any(parent.group() != group and parent.session() == session for parent in parents)
