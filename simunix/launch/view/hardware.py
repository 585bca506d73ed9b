"""The processors, the memory and the devices of a host, and the kernel's notation for sets of processors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PciDevice:
    """A PCI device at a NUMA node: a `gpu` or a `nic`, with the numbers of its vendor, model and class."""

    kind: str
    vendor: int
    device: int
    pci_class: int
    node: int


@dataclass(frozen=True, slots=True)
class Hardware:
    """The hardware of a host: sockets × cores × threads, memory in equal parts at NUMA nodes, PCI devices.

    Each socket has `numa_per_socket` NUMA nodes with equal parts of its cores; 0 means that the whole host is one node.
    """

    sockets: int
    cores_per_socket: int
    threads_per_core: int
    memory_bytes: int
    numa_per_socket: int = 0
    devices: tuple[PciDevice, ...] = ()

    @property
    def cores(self) -> int:
        """The number of cores; the threads of a core count once."""
        return self.sockets * self.cores_per_socket

    @property
    def cpus(self) -> int:
        """The number of logical processors."""
        return self.cores * self.threads_per_core

    @property
    def nodes(self) -> int:
        """The number of NUMA nodes."""
        return self.sockets * self.numa_per_socket or 1

    @property
    def shape(self) -> str:
        """A text that identifies the hardware. Hosts with equal text share the files that show their hardware."""
        name = f"{self.sockets}x{self.cores_per_socket}x{self.threads_per_core}-{self.memory_bytes}"
        if self.numa_per_socket:
            name += f"-numa{self.numa_per_socket}"
        if self.devices:
            import hashlib  # brings OpenSSL

            name += "-" + hashlib.sha256(repr(self.devices).encode()).hexdigest()[:12]
        return name

    def place(self, cpu: int) -> tuple[int, int]:
        """Return the socket and the core in the socket of a logical processor. The threads of a core have numbers far
        apart, as on PCs.
        """
        core = cpu % self.cores
        return core // self.cores_per_socket, core % self.cores_per_socket

    def node_of(self, cpu: int) -> int:
        """Return the NUMA node of a logical processor. All nodes have equal numbers of cores, in the order of the
        cores.
        """
        return cpu % self.cores // (self.cores // self.nodes)

    def cpus_of_node(self, node: int) -> list[int]:
        """Return the logical processors of a NUMA node."""
        return [cpu for cpu in range(self.cpus) if self.node_of(cpu) == node]


def cpu_mask(cpus: Iterable[int]) -> str:
    """Return a set of processors as sysfs prints a cpumap: 32-bit groups in hexadecimal, most significant first."""
    mask = sum(1 << cpu for cpu in cpus)
    groups = [f"{mask >> at & 0xFFFFFFFF:08x}" for at in range(0, max(1, mask.bit_length()), 32)]
    return ",".join(reversed(groups))


def cpu_list(cpus: Iterable[int]) -> str:
    """Return a set of processors as sysfs prints a cpulist: `0-3,8-11`."""
    runs: list[list[int]] = []
    for cpu in cpus:
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
