"""Finds out which mounts of a contained host show a file system of this computer.

Such a mount has the flag `nodev`, because the real kernel demands it (csrc/hostinit/containment/mounts.c). On the
emulated host this flag of such a mount has no effect, and neither has the flag that a bind mount or a mount namespace
takes over from such a mount. All other file systems were mounted by a program of the host or at the host's start. If
another file system has `nodev`, a user has asked for the flag, and the flag has its effect.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable


def is_of_computer(processes: Iterable[str], mount: int, device: int) -> bool:
    """Return whether the mount with the kernel's number `mount` shows a file system of this computer.

    `processes` are folders of /proc; the first process that sees the mount tells its file system. A mount outside of
    the root directories of all of them is seen by none. For such a mount `device`, the st_dev of a file there, tells
    the file system, except on some file systems (btrfs).
    """
    for process in processes:
        found = devices_by_mount(f"{process}/mountinfo").get(mount)
        if found is not None:
            return found in _of_computer()
    return f"{os.major(device)}:{os.minor(device)}" in _of_computer()


@functools.cache
def _of_computer() -> frozenset[str]:
    """Return the major:minor numbers of this computer's file systems, which are those that the server itself sees."""
    return frozenset(devices_by_mount("/proc/self/mountinfo").values())


def devices_by_mount(path: str) -> dict[int, str]:
    """Return major:minor of the file system of each mount that a process sees, by the kernel's mount number (proc(5),
    mountinfo).
    """
    try:
        with open(path, encoding="ascii", errors="replace") as lines:
            rows = [line.split(" ", 3) for line in lines]
    except OSError:
        return {}
    return {int(row[0]): row[2] for row in rows}
