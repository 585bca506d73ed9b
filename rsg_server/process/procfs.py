"""Reads /proc of emulated processes, for the server's decisions and for its reports."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.process.process import Process


def descriptors_of(process: Process) -> tuple[str, list[int]]:
    """Return the folder /proc/PID/fd of a process, and the descriptors of its application in ascending order; [] if it
    is gone.
    """
    folder = f"/proc/{process.global_pid}/fd"
    try:
        numbers = sorted(map(int, os.listdir(folder)))
    except OSError:
        return folder, []
    return folder, [fd for fd in numbers if fd < process.descriptor_floor]


def epoll_targets(fdinfo: str | None) -> list[tuple[int, int]]:
    """Return what an epoll watches, from its fdinfo file, as (descriptor, inode) by descriptor; [] if there is no such file."""
    if fdinfo is None:
        return []
    try:
        with open(fdinfo) as lines:
            words = [line.partition("ino:") for line in lines if line.startswith("tfd:")]
    except OSError:
        return []
    return sorted((int(target.split()[1]), int(inode.split()[0], 16)) for target, _, inode in words)


def mapping_of(process: Process, address: int) -> str:
    """Return a name for what a process has mapped at an address, e.g. `[heap]` or `libpython3.11.so+0x1234`; "" if it
    has none.
    """
    try:
        with open(f"/proc/{process.global_pid}/maps") as lines:
            for line in lines:
                span, _, offset, _, _, *name = line.split(maxsplit=5)
                start, end = (int(part, 16) for part in span.split("-"))
                if start <= address < end:
                    name_text = name[0].strip() if name else ""
                    where = f"+{address - start + int(offset, 16):#x}" if name_text.startswith("/") else ""
                    return os.path.basename(name_text) + where
    except OSError:
        pass
    return ""


def word_value(process: Process, address: int) -> str:
    """Return words about the 32-bit word at an address of a process, e.g. `value 2`; "" if the memory cannot be read."""
    try:
        with open(f"/proc/{process.global_pid}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            return f"value {int.from_bytes(memory.read(4), 'little')}"
    except (OSError, OverflowError):
        return ""
