"""Estimate before a run whether the data that its plan is known to write fits on the disk of the run directory.

Known are the sizes of copied folders, and the bytes that jobs write to storages. It is unknown how much other programs
write; the run notices when the disk becomes full (rsg_server/storage/run_disk.py).
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
    """Return the needs of disk space with their bytes, the largest first."""
    roots = {host.name: host.root for host in plan.hosts}
    found = [(need.size_bytes + sum(_size(roots[name].locate(path)) for name, path in need.copies), need) for need in plan.disk]
    return sorted(found, key=lambda pair: -pair[0])


def _size(folder: Path) -> int:
    return sum(status.st_blocks * 512 for status in _entries(folder))


def _entries(folder: Path) -> Iterator[os.stat_result]:
    """Yield the status of each file below a folder. Files that cannot be read are left out, since copying them reports
    the error.
    """
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
    """Return the lines of a warning if the run is to write more than the free space of the disk.

    With `capacity: refuse` in the scenario, raise SimunixError with the text of the warning instead.
    """
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
