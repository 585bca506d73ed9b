"""Whether what a plan is known to write fits on the disk of the run: estimated before anything starts.

Known are copies of folders, and what jobs take on storages. What other programs write is not: of that the run learns when the
disk becomes full (rsg_server/storage/run_disk.py).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.limits.capacity import GIB, MIB, gib
from simunix.launch.plan import DiskNeed, Plan

MEND = "free some space, or choose a folder of another disk with --out"


def sizes(plan: Plan) -> list[tuple[int, DiskNeed]]:
    """Bytes of each need, the largest first."""
    roots = {host.name: host.root for host in plan.hosts}
    found = [(need.size_bytes + sum(_size(roots[name].locate(path)) for name, path in need.copies), need) for need in plan.disk]
    return sorted(found, key=lambda pair: -pair[0])


def _size(folder: Path) -> int:
    return sum(status.st_blocks * 512 for status in _entries(folder))


def _entries(folder: Path) -> Iterator[os.stat_result]:
    """All files below a folder; what cannot be looked at is left out, since copying tells of that."""
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.lstat(os.path.join(parent, name))
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                yield status


def _written(size_bytes: int) -> str:
    return gib(size_bytes) if size_bytes >= GIB else f"{size_bytes / MIB:.0f} MiB"


def check_disk(plan: Plan, folder: Path) -> Sequence[str]:
    """Lines to warn with. Raises SimunixError with them if a scenario that does not fit is to be refused."""
    needs = sizes(plan) if plan.disk else []
    total = sum(size for size, _ in needs)
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if total <= free:
        return ()
    (_, first), parts = needs[0], ", ".join(f"{_written(size)} {need.what}" for size, need in needs if size)
    text = f"the run is to write about {_written(total)} ({parts}), and the disk of {folder} has {_written(free)} left: {MEND}"
    if plan.capacity == "refuse":
        raise SimunixError(f"{first.where}: {text}; to try all the same: --set capacity=warn")
    return (f"{first.where}: {text}",)
