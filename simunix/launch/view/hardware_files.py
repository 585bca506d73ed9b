"""The description of a host's hardware in /proc and /sys: files that are mounted over this computer's real ones."""

from __future__ import annotations

from pathlib import Path

from simunix.launch.factory.container import Bind
from simunix.launch.view.hardware import Hardware
from simunix.launch.view.memory_files import KIB, meminfo, write_nodes
from simunix.launch.view.pci_files import SHOWN, write_pci
from simunix.launch.view.processor_files import LAST_CACHE_KIB, write_processors


def _cpuinfo(hardware: Hardware) -> str:
    entries = []
    for cpu in range(hardware.cpus):
        socket, core = hardware.place(cpu)
        entries.append(
            f"processor\t: {cpu}\nvendor_id\t: simunix\ncpu family\t: 6\nmodel\t\t: 1\nmodel name\t: emulated processor\n"
            f"stepping\t: 1\ncpu MHz\t\t: 2000.000\ncache size\t: {LAST_CACHE_KIB} KB\nphysical id\t: {socket}\n"
            f"siblings\t: {hardware.cores_per_socket * hardware.threads_per_core}\ncore id\t\t: {core}\n"
            f"cpu cores\t: {hardware.cores_per_socket}\napicid\t\t: {cpu}\nfpu\t\t: yes\nflags\t\t: fpu sse sse2 lm\n"
            "bogomips\t: 4000.00\n"
        )
    return "\n".join(entries)


def write_tree(directory: Path, hardware: Hardware) -> tuple[Bind, ...]:
    """Write the files for one kind of hardware below `directory`, once for all hosts with that hardware. Return the
    binds that show them.
    """
    cpu, node = directory / "cpu", directory / "node"
    if not directory.exists():
        write_processors(cpu, hardware)
        write_nodes(node, hardware)
        write_pci(directory / "sys", hardware)
        (directory / "cpuinfo").write_text(_cpuinfo(hardware) + "\n")
        (directory / "meminfo").write_text(meminfo(hardware.memory_bytes // KIB) + "\n")
    shown = [directory / "sys" / path for path in SHOWN]
    return (
        Bind(directory / "cpuinfo", "/proc/cpuinfo"),
        Bind(directory / "meminfo", "/proc/meminfo"),
        Bind(cpu, "/sys/devices/system/cpu"),
        Bind(node, "/sys/devices/system/node"),
        Bind(cpu, "/sys/bus/cpu/devices"),  # the place where older versions of hwloc look
        Bind(node, "/sys/bus/node/devices"),
        *(Bind(folder, f"/sys/{path}") for folder, path in zip(shown, SHOWN, strict=True) if folder.exists()),
    )
