"""The files /proc/meminfo and /sys/devices/system/node: the memory of a host and of its NUMA nodes."""

from __future__ import annotations

import os
from pathlib import Path

from simunix.launch.view.hardware import Hardware, cpu_list, cpu_mask
from simunix.launch.view.shared_texts import SharedTexts

KIB = 1024
HERE, SAME_SOCKET, OTHER_SOCKET = 10, 12, 21
"""The distances between NUMA nodes in the firmware's table (SLIT): 10 is the node itself; the others are those of
common servers.
"""
COUNTERS = ("numa_hit", "numa_miss", "numa_foreign", "interleave_hit", "local_node", "other_node")


def meminfo(total_kib: int, prefix: str = "") -> str:
    """Return the text of meminfo for a host or, with a prefix, for a NUMA node; half of the memory is free."""
    values = {"MemTotal": total_kib, "MemFree": total_kib // 2, "MemAvailable": total_kib // 2, "Buffers": 0, "Cached": 0}
    values |= {"SwapTotal": 0, "SwapFree": 0, "HugePages_Total": 0, "HugePages_Free": 0}
    if prefix:
        values["MemUsed"] = total_kib - total_kib // 2
    lines = [f"{prefix}{name + ':':<16}{value:>8}" + ("" if "Huge" in name else " kB") for name, value in values.items()]
    return "\n".join(lines)


def kib_of_nodes(hardware: Hardware) -> list[int]:
    """Return the KiB of memory of each NUMA node: equal numbers of pages, and the remainder at the last node."""
    total, nodes = hardware.memory_bytes // KIB, hardware.nodes
    part = total // nodes // 4 * 4
    return [part] * (nodes - 1) + [total - part * (nodes - 1)]


def _distance(hardware: Hardware, first: int, second: int) -> int:
    if first == second:
        return HERE
    parts = max(1, hardware.numa_per_socket)
    return SAME_SOCKET if first // parts == second // parts else OTHER_SOCKET


def write_nodes(base: Path, hardware: Hardware) -> None:
    """Write the host's folder /sys/devices/system/node, which describes its NUMA nodes, below `base`."""
    tree = SharedTexts()
    nodes = range(hardware.nodes)
    names = ("online", "possible", "has_cpu", "has_memory", "has_normal_memory")
    tree.write_all(str(base), dict.fromkeys(names, cpu_list(nodes)))
    by_node: dict[int, list[int]] = {node: [] for node in nodes}
    for cpu in range(hardware.cpus):
        by_node[hardware.node_of(cpu)].append(cpu)
    for node, kib in zip(nodes, kib_of_nodes(hardware), strict=True):
        texts = {
            "cpulist": cpu_list(by_node[node]),
            "cpumap": cpu_mask(by_node[node]),
            "distance": " ".join(str(_distance(hardware, node, other)) for other in nodes),
            "meminfo": meminfo(kib, f"Node {node} "),
            "numastat": "\n".join(f"{counter} 0" for counter in COUNTERS),
        }
        tree.write_all(f"{base}/node{node}", texts)
        for cpu in by_node[node]:
            os.symlink(f"../../cpu/cpu{cpu}", f"{base}/node{node}/cpu{cpu}")
