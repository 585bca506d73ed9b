"""The control files of the cgroup controller memory (memory.*)."""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING

from rsg_server.cgroups import memory
from rsg_server.cgroups.control_file import BELOW, EVERYWHERE, ControlFile, RefusedError, Request
from rsg_server.cgroups.group import NO_LIMIT, Group

if TYPE_CHECKING:
    from rsg_server.cgroups.hierarchy import Hierarchy

PAGE = 4096
_SUFFIXES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50, "e": 1 << 60}
COUNTED = (
    *("anon", "file", "kernel", "kernel_stack", "pagetables", "sec_pagetables", "percpu", "sock", "vmalloc", "shmem", "zswap"),
    *("zswapped", "file_mapped", "file_dirty", "file_writeback", "swapcached", "anon_thp", "file_thp", "shmem_thp"),
    *("inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable", "slab_reclaimable", "slab_unreclaimable"),
    *("slab", "pgscan", "pgsteal", "pgfault", "pgmajfault", "pgrefill", "pgactivate", "pgdeactivate"),
)
"""The lines of memory.stat, in the order of Linux's Documentation/admin-guide/cgroup-v2.rst."""
OF_ANONYMOUS = ("anon", "active_anon")


def size(text: str) -> int:
    """Return the bytes that a written text such as 64M means, in whole pages, as memparse of Linux reads it.

    The text "max" gives NO_LIMIT. Raises RefusedError for another text.
    """
    if text == "max":
        return NO_LIMIT
    match = re.fullmatch(r"([0-9]{1,19})([kmgtpe]?)", text.lower())
    if match is None:
        raise RefusedError(errno.EINVAL)
    number = int(match[1]) * _SUFFIXES[match[2]] // PAGE * PAGE
    return number if number < 1 << 63 else NO_LIMIT


def _limit(name: str, at_first: int = NO_LIMIT, enforces: bool = False) -> ControlFile:
    def read(hierarchy: Hierarchy, group: Group) -> str:
        number = group.number(name, at_first)
        return f"{'max' if number == NO_LIMIT else number}\n"

    def write(request: Request) -> None:
        request.group.numbers[name] = size(request.word)
        if enforces:
            request.hierarchy.memory.enforce(request.hierarchy, request.group)

    return ControlFile(name, "memory", read, write)


def _count(name: str, text: str) -> ControlFile:
    return ControlFile(name, "memory", lambda hierarchy, group: text, is_kept=True)


def _events(name: str, tells: bool) -> ControlFile:
    def read(hierarchy: Hierarchy, group: Group) -> str:
        return "".join(f"{kind} {group.counts.get(f'{name} {kind}', 0)}\n" for kind in memory.KINDS)

    return ControlFile(name, "memory", read, tells=tells)


def _stat(hierarchy: Hierarchy, group: Group) -> str:
    """Return the lines of memory.stat. At the root cgroup all numbers are 0: the host's memory is shown by /proc/vmstat."""
    anonymous = memory.current(group) if group.parent is not None else 0
    return "".join(f"{name} {anonymous if name in OF_ANONYMOUS else 0}\n" for name in COUNTED)


def _peak(hierarchy: Hierarchy, group: Group) -> str:
    memory.current(group)
    return f"{group.counts[memory.PEAK]}\n"


def _write_together(request: Request) -> None:
    if request.word not in ("0", "1"):
        raise RefusedError(errno.EINVAL)
    request.group.numbers[memory.TOGETHER] = int(request.word)


def _reclaim(request: Request) -> None:
    """Refuse a write to memory.reclaim: without swap and without pages of files, simunix has no memory to reclaim."""
    size(request.word)
    raise RefusedError(errno.EAGAIN)


FILES = (
    ControlFile("memory.current", "memory", lambda hierarchy, group: f"{memory.current(group)}\n"),
    ControlFile(memory.PEAK, "memory", _peak),
    _limit("memory.min", 0),
    _limit("memory.low", 0),
    _limit(memory.HIGH, enforces=True),
    _limit(memory.MAX, enforces=True),
    _events(memory.EVENTS, tells=True),
    _events(memory.LOCAL, tells=True),
    ControlFile("memory.stat", "memory", _stat, None, EVERYWHERE),
    ControlFile(memory.TOGETHER, "memory", lambda hierarchy, group: f"{group.number(memory.TOGETHER, 0)}\n", _write_together),
    ControlFile("memory.reclaim", "memory", None, _reclaim, BELOW),
    _count("memory.swap.current", "0\n"),
    _count("memory.swap.peak", "0\n"),
    _limit("memory.swap.high"),
    _limit("memory.swap.max"),
    _count("memory.swap.events", "high 0\nmax 0\nfail 0\n"),
)
