"""The pids.* control files of cgroups. A process or thread above the limit pids.max is not created: EAGAIN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.cgroups.control_file import ControlFile
from rsg_server.cgroups.core_files import limit_file
from rsg_server.cgroups.group import NO_LIMIT, Group

if TYPE_CHECKING:
    from rsg_server.cgroups.hierarchy import Hierarchy

LIMIT, REFUSALS, PEAK = "pids.max", "pids.events", "pids.peak"


def current(group: Group) -> int:
    """Return the number of threads in a cgroup and in the groups below."""
    return sum(len(process.actors) for process in group.members())


def may_be_born(hierarchy: Hierarchy, group: Group) -> bool:
    """Return whether one more thread may be created in a cgroup.

    A group whose limit forbids the thread counts one more event in its pids.events.
    """
    for above in group.up():
        if above.parent is None or "pids" not in above.controllers:
            continue
        count, most = current(above) + 1, above.number(LIMIT)
        if most != NO_LIMIT and count > most:
            above.counts[REFUSALS] = above.counts.get(REFUSALS, 0) + 1
            hierarchy.tell(above, REFUSALS)
            return False
        above.counts[PEAK] = max(above.counts.get(PEAK, 0), count)
    return True


def _peak(hierarchy: Hierarchy, group: Group) -> str:
    group.counts[PEAK] = max(group.counts.get(PEAK, 0), current(group))
    return f"{group.counts[PEAK]}\n"


FILES = (
    limit_file(LIMIT, controller="pids"),
    ControlFile("pids.current", "pids", lambda hierarchy, group: f"{current(group)}\n"),
    ControlFile(PEAK, "pids", _peak),
    ControlFile(REFUSALS, "pids", lambda hierarchy, group: f"max {group.counts.get(REFUSALS, 0)}\n", tells=True),
)
