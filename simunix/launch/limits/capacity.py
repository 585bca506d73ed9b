"""Estimate before a run whether its plan fits on this computer, from measurements of idle daemons.

The measurements were made on Linux 6.18 with clusters of 16 to 5,040 idle slurmds (`benchmarks/growth.py`). Each host
needs memory of the kernel: for five namespaces, some fifty mounts, and the first process. Each process needs page
tables, kernel stacks and descriptors.
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
"""The private memory that remains of a daemon once its pages are merged with those of equal daemons: MERGED_SHARE of
it, but at most MERGED_BYTES.
"""
DESCRIPTORS_OF_HOST, DESCRIPTORS_OF_PROCESS, DESCRIPTORS_OF_THREAD = 2, 2, 1
"""The descriptors of the server for each host, process and thread. A host's two are the ends of an occasional
connection; the factory has its control socket.
"""
LASTING_OF_PROCESS = 1
"""The descriptors for each process that cannot be moved to the server's descriptor store
(rsg_server/fd_store/store.py): one pidfd.
"""
FILES_OF_FACTORY, FILES_OF_PROCESS, FILES_OF_THREAD = 1, 14, 3
RESERVE = 1.1


@dataclass(frozen=True, slots=True)
class Needs:
    """The estimated needs of a plan. `merged_bytes` is the memory if equal pages of hosts are merged.

    Only the lasting descriptors of the server must fit into one process; other processes (rsg_server/fd_store) can keep
    the rest.
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
        """The bytes of memory that merging equal pages saves."""
        return self.memory_bytes - self.merged_bytes


def needs_of(plan: Plan) -> Needs:
    """Return the needs of all hosts and processes of a plan; `working` of the plan says how many daemons carry out work
    at one time.
    """
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
    # for each kind of daemon, one copy of the merged pages remains, which is at most this large
    largest = max((each.memory_bytes for each in prints), default=0)
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
    """Return a text for each resource that does not suffice, with the numbers and with what to do about it."""
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
    """Return the lines of a warning about missing resources. If `refuses`, raise SimunixError with these lines."""
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
    """Return a number of bytes as text for messages, in GiB."""
    return f"{size_bytes / GIB:.1f} GiB"
