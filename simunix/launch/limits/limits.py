"""The resources that this computer and the user's limits leave for a run: memory, process numbers, descriptors,
namespaces.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

UNLIMITED = 1 << 62
KIB = 1 << 10
CGROUPS = Path("/sys/fs/cgroup")
CGROUP_FILES = {
    "memory": ("memory", ("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")),
    "pids": ("pids", ("pids.max", "pids.current"), ("pids.max", "pids.current")),
}
"""For each resource: the cgroup controller of version 1, and the files with the limit and the present use, in versions
2 and 1.
"""
CAP_SYS_RESOURCE = 24
HARD = {
    "stack": (resource.RLIMIT_STACK, UNLIMITED),
    "core": (resource.RLIMIT_CORE, UNLIMITED),
    "memlock": (resource.RLIMIT_MEMLOCK, 8 << 20),
    "msgqueue": (resource.RLIMIT_MSGQUEUE, 819200),
    "nproc": (resource.RLIMIT_NPROC, UNLIMITED),
    "sigpending": (resource.RLIMIT_SIGPENDING, UNLIMITED),
    "cpu": (resource.RLIMIT_CPU, UNLIMITED),
    "fsize": (resource.RLIMIT_FSIZE, UNLIMITED),
    "data": (resource.RLIMIT_DATA, UNLIMITED),
    "rss": (resource.RLIMIT_RSS, UNLIMITED),
    "as": (resource.RLIMIT_AS, UNLIMITED),
}
"""The hard limits of a scenario's processes, if the caller's own limits allow them (csrc/hostinit/spawn.c:
BOOT_LIMITS).
"""
NAMESPACES = ("mnt", "uts", "ipc", "net", "pid")


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of a resource is still available, and which file says so."""

    free: int
    source: str


def memory_bytes() -> dict[str, int]:
    """Return the values of proc_meminfo(5) in bytes, by name: MemTotal, MemAvailable, SwapFree …"""
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return {words[0].rstrip(":"): int(words[1]) * KIB for words in lines}


def memory() -> Limit:
    """Return the bytes of memory that processes may still take, swap included."""
    said = memory_bytes()
    here = Limit(said["MemAvailable"] + said["SwapFree"], "memory that is free now")
    return min((here, *_of_groups("memory")), key=lambda limit: limit.free)


def tasks() -> Limit:
    """Return the number of free process numbers; every thread takes one."""
    in_use = int(Path("/proc/loadavg").read_text().split()[3].split("/")[1])
    found = [
        Limit(_sysctl("kernel/pid_max") - in_use, "kernel.pid_max"),
        Limit(_sysctl("kernel/threads-max") - in_use, "kernel.threads-max"),
        *_of_groups("pids"),
    ]
    if os.geteuid() != 0:
        hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        found.append(Limit(UNLIMITED if hard == resource.RLIM_INFINITY else hard, "ulimit -u"))
    return min(found, key=lambda limit: limit.free)


def descriptors() -> Limit:
    """Return the number of files that one process, such as the server, can have open."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    ceiling = _sysctl("fs/nr_open")
    if _may_raise_limits() or hard == resource.RLIM_INFINITY:
        return Limit(ceiling, "fs.nr_open")
    return Limit(min(hard, ceiling), "ulimit -Hn")


def lowered_limits() -> dict[str, int]:
    """Return the hard limits of hosts' processes that are lower than after a boot, because this user may not raise
    limits.
    """
    if _may_raise_limits():
        return {}
    found = {name: (resource.getrlimit(number)[1], boot) for name, (number, boot) in HARD.items()}
    return {name: hard for name, (hard, boot) in found.items() if hard != resource.RLIM_INFINITY and hard < boot}


def _may_raise_limits() -> bool:
    """Return whether this process has CAP_SYS_RESOURCE; root in a container often has not."""
    lines = Path("/proc/self/status").read_text().splitlines()
    effective = next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")), 0)
    return bool(effective >> CAP_SYS_RESOURCE & 1)


def files() -> Limit:
    """Return the number of files that all processes together can still open."""
    allocated, _, most = (int(word) for word in Path("/proc/sys/fs/file-nr").read_text().split())
    return Limit(most - allocated, "fs.file-max")


def namespaces() -> Limit:
    """Return the number of namespaces of each kind that the user can still create."""
    found = [Limit(_sysctl(f"user/max_{kind}_namespaces"), f"user.max_{kind}_namespaces") for kind in NAMESPACES]
    return min(found, key=lambda limit: limit.free)


def raise_open_files(needed: int) -> None:
    """Raise this process's limit of open files to `needed`, as far as the user may. Emulated processes have limits of
    their own.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        for highest in (max(hard, needed) if hard != resource.RLIM_INFINITY else hard, hard):
            with contextlib.suppress(ValueError, OSError):
                wanted = needed if highest == resource.RLIM_INFINITY else min(needed, highest)
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, highest))
                return


def _sysctl(name: str) -> int:
    try:
        return int(Path("/proc/sys", name).read_text())
    except (OSError, ValueError):
        return UNLIMITED  # this kernel has no such limit


def _groups_of_this_process() -> str:
    return Path("/proc/self/cgroup").read_text()


def _of_groups(kind: str) -> Iterator[Limit]:
    """Yield the limits of the control groups that contain this process, from its own group up to the root group."""
    controller, second, first = CGROUP_FILES[kind]
    for line in _groups_of_this_process().splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        base, names = (CGROUPS / controller, first) if controllers else (CGROUPS, second)
        folder = base / group.strip("/")
        while folder.is_relative_to(base):
            with contextlib.suppress(OSError, ValueError):  # "max" is no number: no limit
                most, used = (int((folder / name).read_text()) for name in names)
                yield Limit(most - used, f"{names[0]} of the control group /{folder.relative_to(base)}")
            folder = folder.parent
