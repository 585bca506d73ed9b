"""Readers of /proc of emulated processes, for decisions of the server and for its reports."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.process.process import Process


def descriptors_of(process: Process) -> tuple[str, list[int]]:
    """The folder of /proc in which a process's descriptors are, and the application's own, ascending; none once it is gone."""
    folder = f"/proc/{process.global_pid}/fd"
    try:
        numbers = sorted(map(int, os.listdir(folder)))
    except OSError:
        return folder, []
    return folder, [fd for fd in numbers if fd < process.descriptor_floor]


def epoll_targets(fdinfo: str | None) -> list[tuple[int, int]]:
    """(descriptor, inode) of what an epoll watches, ascending, from the epoll's fdinfo file; empty if there is no such file."""
    if fdinfo is None:
        return []
    try:
        with open(fdinfo) as lines:
            words = [line.partition("ino:") for line in lines if line.startswith("tfd:")]
    except OSError:
        return []
    return sorted((int(target.split()[1]), int(inode.split()[0], 16)) for target, _, inode in words)
