"""Which mounts of a contained host show a file system of this computer.

Such a mount has the flag `nodev`, whatever the emulated kernel knows (csrc/hostinit/containment/mounts.c). The flag says
nothing then: bind mounts and mount namespaces inherit it. On another file system, one that a host's program has mounted or
the host has got at its start, the flag is there because somebody asked for it, and holds.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable


def is_of_computer(processes: Iterable[str], mount: int, device: int) -> bool:
    """Whether the mount of the kernel's number `mount` shows a file system of this computer.

    `processes` are folders of /proc; the first whose process sees the mount tells its file system. None does if the mount lies
    outside of their root directories; then `device`, the st_dev of a file there, is that of the file system, but on some
    (btrfs).
    """
    for process in processes:
        found = devices_by_mount(f"{process}/mountinfo").get(mount)
        if found is not None:
            return found in _of_computer()
    return f"{os.major(device)}:{os.minor(device)}" in _of_computer()


@functools.cache
def _of_computer() -> frozenset[str]:
    """The file systems of this computer, as the server sees them: it is in no host."""
    return frozenset(devices_by_mount("/proc/self/mountinfo").values())


def devices_by_mount(path: str) -> dict[int, str]:
    """Major and minor number of the file system of each mount, by the kernel's number of the mount; see proc(5), mountinfo."""
    try:
        with open(path, encoding="ascii", errors="replace") as lines:
            rows = [line.split(" ", 3) for line in lines]
    except OSError:
        return {}
    return {int(row[0]): row[2] for row in rows}
