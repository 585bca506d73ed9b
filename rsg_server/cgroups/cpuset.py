"""The cpuset.* control files of cgroups: the processors that the threads of a group may use.

A thread that has asked for some processors (sched_setaffinity(2)) gets those of them that its group may use; if there
are none, it gets all that its group may use.
"""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING

from rsg_server.cgroups.control_file import EVERYWHERE, ControlFile, RefusedError, Request
from rsg_server.cgroups.group import Group

if TYPE_CHECKING:
    from rsg_server.cgroups.hierarchy import Hierarchy
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process

CPUS, NODES = "cpuset.cpus", "cpuset.mems"
_PART = r"([0-9]{1,5})(?:-([0-9]{1,5}))?"
_MOST = 8192


def listed(mask: int) -> str:
    """Return a mask of processors as Linux writes it, e.g. 0-2,5."""
    parts, number = [], 0
    while mask >> number:
        if mask >> number & 1:
            first = number
            while mask >> number + 1 & 1:
                number += 1
            parts.append(str(first) if first == number else f"{first}-{number}")
        number += 1
    return ",".join(parts)


def parsed(text: str) -> int:
    """Return the mask of processors for a list such as 0-2,5. Raises RefusedError if the text is no such list."""
    mask = 0
    for part in filter(None, text.strip().split(",")):
        match = re.fullmatch(_PART, part.strip())
        if match is None:
            raise RefusedError(errno.EINVAL)
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise RefusedError(errno.EINVAL)
        if last >= _MOST:
            raise RefusedError(errno.ERANGE)
        mask |= (1 << last + 1) - (1 << first)
    return mask


def effective(hierarchy: Hierarchy, group: Group, name: str = CPUS) -> int:
    """Return the mask of processors that a cgroup may use.

    A cgroup may use the processors in its cpuset.cpus that the group above may use as well; if there are none, all
    processors that the group above may use.
    """
    if group.parent is None:
        return (1 << (hierarchy.host.host.cores if name == CPUS else hierarchy.host.host.numa.nodes or 1)) - 1
    above = effective(hierarchy, group.parent, name)
    return (group.numbers.get(name, 0) & above) or above if "cpuset" in group.controllers else above


def bound(hierarchy: Hierarchy, actor: Actor) -> None:
    """Move a thread to the processors that its cgroup may use."""
    every = effective(hierarchy, hierarchy.root)
    allowed = effective(hierarchy, hierarchy.group_of(actor.process))
    mask = (actor.wanted_affinity & allowed) or allowed
    mask = 0 if mask == every and not actor.wanted_affinity else mask
    if mask != actor.affinity:
        actor.affinity = mask
        hierarchy.controlled.cpu.moved(actor)


def follow(hierarchy: Hierarchy, process: Process) -> None:
    """Move all threads of a process to the processors that its cgroup may use."""
    for actor in process.actors:
        bound(hierarchy, actor)


def _effective_file(name: str) -> ControlFile:
    return ControlFile(
        f"{name}.effective",
        "cpuset",
        lambda hierarchy, group: f"{listed(effective(hierarchy, group, name))}\n",
        None,
        EVERYWHERE,
        is_kept=True,
    )


def _settable(name: str) -> ControlFile:
    def read(hierarchy: Hierarchy, group: Group) -> str:
        return f"{listed(group.numbers.get(name, 0))}\n"

    def write(request: Request) -> None:
        request.group.numbers[name] = parsed(request.text)
        for group in request.group.down():
            request.hierarchy.keep(group, f"{name}.effective")
        for process in list(request.group.members()):
            follow(request.hierarchy, process)

    return ControlFile(name, "cpuset", read, write)


def _write_partition(request: Request) -> None:
    """Refuse a write to cpuset.cpus.partition: simunix cannot reserve processors for one group."""
    if request.word != "member":
        raise RefusedError(errno.EINVAL)


FILES = (
    _settable(CPUS),
    _settable(NODES),
    _effective_file(CPUS),
    _effective_file(NODES),
    ControlFile("cpuset.cpus.partition", "cpuset", lambda hierarchy, group: "member\n", _write_partition),
)
