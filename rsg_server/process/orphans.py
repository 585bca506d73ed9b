"""What the kernel does to processes whose parent has died."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals


def hang_up_orphans(signals: Signals, host: HostState) -> None:
    """A death may orphan a process group: if one of its members is stopped, the kernel has sent all SIGHUP and SIGCONT."""
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
    """Whom the kernel has given an orphan to: a subreaper among its ancestors, or the host's init, which is not ours."""
    parent_pid = int(orphan.status_fields().get("PPid", "0"))
    known = (other for other in orphan.host.processes.values() if parent_pid and other.global_pid == parent_pid)
    orphan.parent = next(known, None)
    if orphan.parent is not None:
        orphan.parent.children.append(orphan)
