"""The folder /sys/devices/system/cpu: the topology of processors, their NUMA nodes and, if a socket has several nodes,
the caches.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simunix.launch.view.hardware import Hardware, cpu_list, cpu_mask
from simunix.launch.view.shared_texts import SharedTexts

OF_CORE = ("thread_siblings", "core_cpus")
OF_SOCKET = ("core_siblings", "package_cpus", "die_cpus")
"""The files with sets of processors that the threads of a core, or the processors of a socket, have in common."""
KIB = 1024
LINE = 64
"""The bytes of a cache line in the emulated processors' caches."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache of each core, or the last-level cache, which the cores of a NUMA node share."""

    level: int
    kind: str
    size_kib: int
    ways: int

    @property
    def texts(self) -> dict[str, str]:
        """Return the content of the cache's files, except for its set of processors; see sysfs-devices-system-cpu in
        the kernel's documentation.
        """
        return {
            "level": str(self.level),
            "type": self.kind,
            "size": f"{self.size_kib}K",
            "coherency_line_size": str(LINE),
            "number_of_sets": str(self.size_kib * KIB // (self.ways * LINE)),
            "physical_line_partition": "1",
            "ways_of_associativity": str(self.ways),
        }


LAST_CACHE_KIB = 16384
"""The KiB of the last-level cache of each socket; NUMA nodes of a socket have equal parts."""
CACHES = (Cache(1, "Data", 32, 8), Cache(1, "Instruction", 32, 8), Cache(2, "Unified", 1024, 16))


def _topology_texts(hardware: Hardware) -> Iterator[dict[str, str]]:
    """Yield the content of the topology files of each logical processor, by name. Texts that a core or a socket has in
    common are made once.
    """
    by_core: dict[tuple[int, int], list[int]] = {}
    by_socket: dict[int, list[int]] = {}
    for cpu in range(hardware.cpus):
        socket, core = hardware.place(cpu)
        by_core.setdefault((socket, core), []).append(cpu)
        by_socket.setdefault(socket, []).append(cpu)
    threads = {place: (cpu_mask(cpus), cpu_list(cpus)) for place, cpus in by_core.items()}
    packages = {socket: (cpu_mask(cpus), cpu_list(cpus)) for socket, cpus in by_socket.items()}
    for cpu in range(hardware.cpus):
        socket, core = hardware.place(cpu)
        texts = {"core_id": str(core), "physical_package_id": str(socket), "die_id": "0"}
        for names, (mask, ranges) in ((OF_CORE, threads[socket, core]), (OF_SOCKET, packages[socket])):
            texts |= dict.fromkeys(names, mask) | {f"{name}_list": ranges for name in names}
        yield texts


def _last_cache(hardware: Hardware) -> tuple[Cache, int]:
    """Return the last-level cache, and the number of cores that share it: those of a NUMA node."""
    parts = hardware.numa_per_socket
    return Cache(3, "Unified", max(LAST_CACHE_KIB // parts, KIB), 16), hardware.cores_per_socket // parts


def _write_caches(base: str, hardware: Hardware, tree: SharedTexts) -> None:
    """Write the folders of caches. All threads of a core have the folder of the first thread, and cores that share a
    cache have that of the first core.
    """
    last, sharing = _last_cache(hardware)
    threads = range(hardware.threads_per_core)
    for core in range(hardware.cores):
        cpus = [core + thread * hardware.cores for thread in threads]
        own = {"shared_cpu_map": cpu_mask(cpus), "shared_cpu_list": cpu_list(cpus), "id": str(core)}
        folder = f"{base}/cpu{core}/cache"
        for index, cache in enumerate(CACHES):
            tree.write_all(f"{folder}/index{index}", cache.texts | own)
        first = core - core % sharing
        if core != first:
            os.symlink(f"../../cpu{first}/cache/index{len(CACHES)}", f"{folder}/index{len(CACHES)}")
        else:
            cpus = [first + each + thread * hardware.cores for thread in threads for each in range(sharing)]
            shared = {"shared_cpu_map": cpu_mask(cpus), "shared_cpu_list": cpu_list(cpus), "id": str(first // sharing)}
            tree.write_all(f"{folder}/index{len(CACHES)}", last.texts | shared)
        for thread in threads[1:]:
            os.symlink(f"../cpu{core}/cache", f"{base}/cpu{core + thread * hardware.cores}/cache")


def write_processors(base: Path, hardware: Hardware) -> None:
    """Write the host's folder /sys/devices/system/cpu, which describes its processors, below `base`."""
    tree = SharedTexts()
    every = cpu_list(range(hardware.cpus))
    tree.write_all(str(base), {"online": every, "possible": every, "present": every, "kernel_max": "8191"})
    for cpu, texts in enumerate(_topology_texts(hardware)):
        folder = f"{base}/cpu{cpu}"
        tree.write_all(f"{folder}/topology", texts)
        tree.write(f"{folder}/online", "1")
        node = hardware.node_of(cpu)
        os.symlink(f"../../node/node{node}", f"{folder}/node{node}")
    # hosts without NUMA nodes in a socket get no more files, since each file that Slurm's daemons read takes virtual
    # time
    if hardware.numa_per_socket:
        _write_caches(str(base), hardware, tree)
