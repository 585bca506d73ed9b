"""Whether a plan fits on this computer: estimated before anything starts, from what idle daemons were measured to take.

Measured on Linux 6.18 with clusters of 16 to 5,040 idle slurmds (`benchmarks/growth.py`). A host's own part is the kernel's:
five namespaces, some fifty mounts, its first process; a process's is its page tables, kernel stacks and descriptors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rsg_server.errors import SimunixError
from rsg_server.fd_store import store as fd_store
from simunix.launch.factory.container import Isolation
from simunix.launch.limits import limits
from simunix.launch.limits.limits import Limit
from simunix.launch.plan import Plan

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SERVER_BYTES = 48 * MIB
SERVER_TASKS, SERVER_DESCRIPTORS = 32, 256
KERNEL_BYTES_OF_HOST = 590 * KIB
KERNEL_BYTES_OF_PROCESS = 130 * KIB
KERNEL_BYTES_OF_THREAD = 24 * KIB
SERVER_BYTES_OF_PROCESS = 96 * KIB
MERGED_SHARE, MERGED_BYTES = 0.4, 640 * KIB
"""What is left of a daemon's private memory once its pages are merged with those of equal daemons: this share, this at most."""
DESCRIPTORS_OF_HOST, DESCRIPTORS_OF_PROCESS, DESCRIPTORS_OF_THREAD = 2, 2, 1
"""A host's are both ends of a connection that comes now and then; its control socket is the factory's."""
LASTING_OF_PROCESS = 1
"""How many of these the server's store of descriptors (rsg_server/fd_store/store.py) does not take: a pidfd."""
FILES_OF_FACTORY, FILES_OF_PROCESS, FILES_OF_THREAD = 1, 14, 3
RESERVE = 1.1


@dataclass(frozen=True, slots=True)
class Needs:
    """What a plan will take, estimated. `merged_bytes` counts for pages merged across hosts.

    Of the server's descriptors only the lasting ones must fit into one process; holders take the others if need be.
    """

    hosts: int
    memory_bytes: int
    merged_bytes: int
    tasks: int
    descriptors: int
    lasting_descriptors: int
    files: int

    @property
    def saved_bytes(self) -> int:
        """Bytes that merging pages saves."""
        return self.memory_bytes - self.merged_bytes


def needs_of(plan: Plan) -> Needs:
    """The sum over hosts and processes, so many of them at work as the plan says."""
    prints = [process.footprint for process in plan.processes]
    working = sorted(prints, key=lambda each: each.work_bytes, reverse=True)[: plan.working]
    processes = len(prints) + sum(each.work_processes for each in working)
    threads = sum(each.threads for each in prints) + sum(each.work_threads for each in working)
    hosts = len(plan.hosts)
    kernel = hosts * KERNEL_BYTES_OF_HOST + processes * KERNEL_BYTES_OF_PROCESS + threads * KERNEL_BYTES_OF_THREAD
    fixed = kernel + SERVER_BYTES + processes * SERVER_BYTES_OF_PROCESS
    own = sum(each.memory_bytes for each in prints) + sum(each.work_bytes for each in working)
    merged = sum(_merged(each.memory_bytes, 1) for each in prints)
    merged += sum(_merged(each.work_bytes, each.work_processes) for each in working)
    largest = max((each.memory_bytes for each in prints), default=0)  # one copy of each kind stays, none larger than this
    server = SERVER_DESCRIPTORS + hosts * DESCRIPTORS_OF_HOST + processes * DESCRIPTORS_OF_PROCESS
    server += threads * DESCRIPTORS_OF_THREAD
    files = server + hosts * FILES_OF_FACTORY + processes * FILES_OF_PROCESS + threads * FILES_OF_THREAD
    return Needs(
        hosts,
        fixed + own,
        fixed + min(own, merged + 2 * largest),
        int(RESERVE * (hosts + threads)) + SERVER_TASKS,
        int(RESERVE * server),
        int(RESERVE * (SERVER_DESCRIPTORS + fd_store.RESERVE + processes * LASTING_OF_PROCESS)),
        int(RESERVE * files),
    )


def _merged(size_bytes: int, processes: int) -> int:
    return min(int(MERGED_SHARE * size_bytes), processes * MERGED_BYTES)


def shortages(needs: Needs, isolation: Isolation, merges: bool) -> list[str]:
    """All that does not fit, each with its numbers and what to do about it."""
    memory = needs.merged_bytes if merges else needs.memory_bytes
    lasting = needs.lasting_descriptors
    rows: list[tuple[str, int, Limit, str]] = [
        ("processes and threads", needs.tasks, limits.tasks(), _raise("kernel.pid_max", needs.tasks)),
        ("descriptors in the server", lasting, limits.descriptors(), f"raise that to {max(lasting, needs.descriptors)}"),
        ("open files in all", needs.files, limits.files(), _raise("fs.file-max", needs.files)),
    ]
    if isolation is not Isolation.NONE:
        rows.append(("namespaces of each kind", needs.hosts, limits.namespaces(), _raise("user.max_*_namespaces", needs.hosts)))
    found = [
        _shortage(what, f"{need:,}", f"{limit.free:,}", limit, how) for what, need, limit, how in rows if need > limit.free
    ]
    free = limits.memory()
    if memory > free.free:
        found.append(_shortage("of memory", gib(memory), gib(free.free), free, _memory_remedy(needs, merges)))
    return found


def check(needs: Needs, isolation: Isolation, merges: bool, refuses: bool) -> Sequence[str]:
    """Lines to warn with; raises SimunixError with them if such a scenario is to be refused."""
    found = shortages(needs, isolation, merges)
    if found and refuses:
        raise SimunixError(f"{'; '.join(found)}; to try all the same: --set capacity=warn")
    return found


def _shortage(what: str, needed: str, free: str, limit: Limit, remedy: str) -> str:
    return f"the scenario needs about {needed} {what}, there are {free} ({limit.source}): {remedy} or use fewer hosts"


def _raise(name: str, needed: int) -> str:
    return f"as root, sysctl -w {name}={max(65536, 2 * needed)},"


def _memory_remedy(needs: Needs, merges: bool) -> str:
    if merges or needs.saved_bytes < GIB // 10:
        return "use a computer with more"
    return f"run as root with merge_pages: yes, which saves about {gib(needs.saved_bytes)},"


def gib(size_bytes: int) -> str:
    """A number of bytes as messages write it."""
    return f"{size_bytes / GIB:.1f} GiB"
