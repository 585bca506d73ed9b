"""Finds the mounts of a contained host that show a file system of this computer.

Such a mount has the flag `nodev`, whatever the emulated kernel knows (csrc/hostinit/containment/mounts.c), so its flag
means nothing: bind mounts and mount namespaces inherit it. Other file systems come from a host's program or from the host's
start. There a user has asked for the flag, and it holds.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable


def is_of_computer(processes: Iterable[str], mount: int, device: int) -> bool:
    """Whether the mount with the kernel's number `mount` shows a file system of this computer.

    `processes` are folders of /proc; the first process that sees the mount tells its file system. If the mount lies outside
    of their root directories, no process sees it. Then `device`, the st_dev of a file there, is that of the file system,
    except on some file systems (btrfs).
    """
    for process in processes:
        found = devices_by_mount(f"{process}/mountinfo").get(mount)
        if found is not None:
            return found in _of_computer()
    return f"{os.major(device)}:{os.minor(device)}" in _of_computer()


@functools.cache
def _of_computer() -> frozenset[str]:
    """Return the file systems of this computer, as the server sees them: the server is on no host."""
    return frozenset(devices_by_mount("/proc/self/mountinfo").values())


def devices_by_mount(path: str) -> dict[int, str]:
    """Return major and minor number of the file system of each mount, by the kernel's mount number; proc(5), mountinfo."""
    try:
        with open(path, encoding="ascii", errors="replace") as lines:
            rows = [line.split(" ", 3) for line in lines]
    except OSError:
        return {}
    return {int(row[0]): row[2] for row in rows}
