"""What a host shows of its processors and memory in /proc and /sys: a tree of files, bound over the real ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simunix.launch.factory.container import Bind

KIB = 1024
OF_CORE = ("thread_siblings", "core_cpus")
OF_SOCKET = ("core_siblings", "package_cpus", "die_cpus")
"""Sets of processors that the threads of a core, or the processors of a socket, have in common."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """The processors and the memory of a host: sockets × cores × threads, in one NUMA node."""

    sockets: int
    cores_per_socket: int
    threads_per_core: int
    memory_bytes: int

    @property
    def cpus(self) -> int:
        """The number of logical processors."""
        return self.sockets * self.cores_per_socket * self.threads_per_core

    @property
    def shape(self) -> str:
        """A name for these sizes: hosts of one shape share the files that show them."""
        return f"{self.sockets}x{self.cores_per_socket}x{self.threads_per_core}-{self.memory_bytes}"

    def place(self, cpu: int) -> tuple[int, int]:
        """(socket, core in the socket) of a logical processor: threads of a core are numbered apart, as on PCs."""
        cores = self.sockets * self.cores_per_socket
        core = cpu % cores
        return core // self.cores_per_socket, core % self.cores_per_socket


def _mask(cpus: list[int]) -> str:
    """A cpumap as sysfs prints it: 32-bit groups in hexadecimal, most significant first."""
    groups = [0] * max(1, (max(cpus) + 32) // 32)
    for cpu in cpus:
        groups[cpu // 32] |= 1 << cpu % 32
    return ",".join(f"{group:08x}" for group in reversed(groups))


def cpu_list(cpus: list[int]) -> str:
    """A cpulist as sysfs prints it: `0-3,8-11`."""
    runs: list[list[int]] = []
    for cpu in cpus:
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


class _Tree:
    """Writes files, those of equal content as links to one: thousands of processors differ in little.

    Paths are texts here: with tens of thousands of files, pathlib takes more time than the kernel.
    """

    def __init__(self) -> None:
        self._written: dict[str, str] = {}

    def write(self, path: str, text: str) -> None:
        """A file with a line, in a folder that there is."""
        if text in self._written:
            try:
                os.link(self._written[text], path)
                return
            except OSError:  # no links on this file system, or no more of them to one file
                pass
        with open(path, "w") as file:
            file.write(text + "\n")
        self._written[text] = path


def _topology_texts(hardware: Hardware) -> Iterator[dict[str, str]]:
    """What the files of each logical processor say, by name; texts that a core or a socket has in common are made once."""
    by_core: dict[tuple[int, int], list[int]] = {}
    by_socket: dict[int, list[int]] = {}
    for cpu in range(hardware.cpus):
        socket, core = hardware.place(cpu)
        by_core.setdefault((socket, core), []).append(cpu)
        by_socket.setdefault(socket, []).append(cpu)
    threads = {place: (_mask(cpus), cpu_list(cpus)) for place, cpus in by_core.items()}
    packages = {socket: (_mask(cpus), cpu_list(cpus)) for socket, cpus in by_socket.items()}
    for cpu in range(hardware.cpus):
        socket, core = hardware.place(cpu)
        texts = {"core_id": str(core), "physical_package_id": str(socket), "die_id": "0"}
        for names, (mask, ranges) in ((OF_CORE, threads[socket, core]), (OF_SOCKET, packages[socket])):
            texts |= dict.fromkeys(names, mask) | {f"{name}_list": ranges for name in names}
        yield texts


def _write_topology(base: Path, hardware: Hardware) -> None:
    tree = _Tree()
    for cpu, texts in enumerate(_topology_texts(hardware)):
        folder = f"{base}/cpu{cpu}"
        os.makedirs(f"{folder}/topology")
        for name, text in texts.items():
            tree.write(f"{folder}/topology/{name}", text)
        tree.write(f"{folder}/online", "1")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def _cpuinfo(hardware: Hardware) -> str:
    entries = []
    for cpu in range(hardware.cpus):
        socket, core = hardware.place(cpu)
        entries.append(
            f"processor\t: {cpu}\nvendor_id\t: simunix\ncpu family\t: 6\nmodel\t\t: 1\nmodel name\t: emulated processor\n"
            f"stepping\t: 1\ncpu MHz\t\t: 2000.000\ncache size\t: 16384 KB\nphysical id\t: {socket}\n"
            f"siblings\t: {hardware.cores_per_socket * hardware.threads_per_core}\ncore id\t\t: {core}\n"
            f"cpu cores\t: {hardware.cores_per_socket}\napicid\t\t: {cpu}\nfpu\t\t: yes\nflags\t\t: fpu sse sse2\n"
            "bogomips\t: 4000.00\n"
        )
    return "\n".join(entries)


def _meminfo(hardware: Hardware, prefix: str = "") -> str:
    total = hardware.memory_bytes // KIB
    values = {"MemTotal": total, "MemFree": total // 2, "MemAvailable": total // 2, "Buffers": 0, "Cached": 0}
    values |= {"SwapTotal": 0, "SwapFree": 0, "HugePages_Total": 0, "HugePages_Free": 0}
    lines = [f"{prefix}{name + ':':<16}{value:>8}" + ("" if "Huge" in name else " kB") for name, value in values.items()]
    return "\n".join(lines)


def write_tree(directory: Path, hardware: Hardware) -> tuple[Bind, ...]:
    """Write the files of one shape below `directory` (once for all hosts of that shape); the binds that show them."""
    every = list(range(hardware.cpus))
    cpu, node = directory / "cpu", directory / "node"
    if not directory.exists():
        for name in ("online", "possible", "present"):
            _write(cpu / name, cpu_list(every))
        _write(cpu / "kernel_max", "8191")
        _write_topology(cpu, hardware)
        for name in ("online", "possible", "has_cpu", "has_memory", "has_normal_memory"):
            _write(node / name, "0")
        _write(node / "node0" / "cpulist", cpu_list(every))
        _write(node / "node0" / "cpumap", _mask(every))
        _write(node / "node0" / "distance", "10")
        _write(node / "node0" / "meminfo", _meminfo(hardware, "Node 0 "))
        _write(directory / "cpuinfo", _cpuinfo(hardware))
        _write(directory / "meminfo", _meminfo(hardware))
    return (
        Bind(directory / "cpuinfo", "/proc/cpuinfo"),
        Bind(directory / "meminfo", "/proc/meminfo"),
        Bind(cpu, "/sys/devices/system/cpu"),
        Bind(node, "/sys/devices/system/node"),
        Bind(cpu, "/sys/bus/cpu/devices"),  # where older versions of hwloc look
        Bind(node, "/sys/bus/node/devices"),
    )
