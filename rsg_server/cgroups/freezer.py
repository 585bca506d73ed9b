"""The control files cgroup.freeze and cgroup.kill. Threads of a frozen group get no turns until the cgroup is thawed."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from rsg_server.cgroups.control_file import RefusedError, Request, is_integer

if TYPE_CHECKING:
    from rsg_server.cgroups.group import Group
    from rsg_server.cgroups.hierarchy import Hierarchy
    from rsg_server.process.process import Process


def follow(hierarchy: Hierarchy, process: Process) -> None:
    """Freeze a process if its cgroup, or a group above, is frozen; thaw it otherwise."""
    if hierarchy.group_of(process).is_frozen:
        hierarchy.controlled.signals.freeze(process)
    else:
        hierarchy.controlled.signals.thaw(process)


def read_freeze(hierarchy: Hierarchy, group: Group) -> str:
    """Return the text of cgroup.freeze: 1 if this cgroup itself was told to freeze, else 0."""
    return f"{group.freezes:d}\n"


def write_freeze(request: Request) -> None:
    """Handle a write to cgroup.freeze: 1 freezes all processes of the cgroup and of the groups below, 0 thaws them."""
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
    """Handle a write to cgroup.kill: kill all processes of the cgroup in the order of their numbers, but the writer last."""
    if request.word != "1":
        raise RefusedError(errno.ERANGE if is_integer(request.word) else errno.EINVAL)
    doomed = sorted(request.group.members(), key=lambda process: process.number)
    request.hierarchy.kill([process for process in doomed if process is not request.writer])
    if request.writer in doomed:
        request.hierarchy.kill([request.writer])
