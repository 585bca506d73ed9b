"""cgroup.freeze and cgroup.kill: threads of a frozen group have no turns, from the write on until the group is thawed."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from rsg_server.cgroups.control_file import RefusedError, Request, is_integer

if TYPE_CHECKING:
    from rsg_server.cgroups.group import Group
    from rsg_server.cgroups.hierarchy import Hierarchy
    from rsg_server.process.process import Process


def follow(hierarchy: Hierarchy, process: Process) -> None:
    """Freeze or thaw a process, as its group says."""
    if hierarchy.group_of(process).is_frozen:
        hierarchy.controlled.signals.freeze(process)
    else:
        hierarchy.controlled.signals.thaw(process)


def read_freeze(hierarchy: Hierarchy, group: Group) -> str:
    """Return whether the group itself freezes, as text."""
    return f"{group.freezes:d}\n"


def write_freeze(request: Request) -> None:
    """Freeze (1) or thaw (0) a group."""
    if request.word not in ("0", "1"):
        raise RefusedError(errno.ERANGE if is_integer(request.word) else errno.EINVAL)
    freezes, hierarchy = request.word == "1", request.hierarchy
    if request.group.freezes == freezes:
        return
    request.group.freezes = freezes
    for group in request.group.down():
        for process in list(group.processes.values()):
            follow(hierarchy, process)
        hierarchy.tell(group, "cgroup.events")


def write_kill(request: Request) -> None:
    """Kill all processes of a group in the order of their numbers; the writer, if it is among them, comes last."""
    if request.word != "1":
        raise RefusedError(errno.ERANGE if is_integer(request.word) else errno.EINVAL)
    doomed = sorted(request.group.members(), key=lambda process: process.number)
    request.hierarchy.kill([process for process in doomed if process is not request.writer])
    if request.writer in doomed:
        request.hierarchy.kill([request.writer])
