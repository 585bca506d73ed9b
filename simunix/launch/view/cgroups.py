"""The cgroup that a host shows: one without limits, which holds all of its processes, and the same on every computer.

Programs read it to learn what they may use: a JVM its heap, a service manager its version. Hosts share the real computer's
cgroups, whose limits and counters are not theirs. No host can make cgroups: the folder is read-only, as in many containers.
"""

from __future__ import annotations

from pathlib import Path

from simunix.launch.factory.container import Bind
from simunix.launch.view.hardware import Hardware, cpu_list

CGROUPS = "/sys/fs/cgroup"
PRESSURE = "".join(f"{which} avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" for which in ("some", "full"))
CONTROLLERS = "cpuset cpu io memory pids\n"
COUNTED = """
anon file kernel kernel_stack pagetables percpu sock shmem file_mapped file_dirty file_writeback swapcached inactive_anon
active_anon inactive_file active_file unevictable slab_reclaimable slab_unreclaimable slab pgfault pgmajfault
"""
FILES = {
    "cgroup.controllers": CONTROLLERS,
    "cgroup.subtree_control": "",
    "cgroup.type": "domain\n",
    "cgroup.events": "populated 1\nfrozen 0\n",
    "cgroup.max.depth": "max\n",
    "cgroup.max.descendants": "max\n",
    "cgroup.stat": "nr_descendants 0\nnr_dying_descendants 0\n",
    "cgroup.freeze": "0\n",
    "cpu.max": "max 100000\n",
    "cpu.weight": "100\n",
    "cpu.stat": "usage_usec 0\nuser_usec 0\nsystem_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n",
    "cpu.pressure": PRESSURE,
    "memory.max": "max\n",
    "memory.high": "max\n",
    "memory.low": "0\n",
    "memory.min": "0\n",
    "memory.swap.max": "max\n",
    "memory.swap.current": "0\n",
    "memory.stat": "".join(f"{name} 0\n" for name in COUNTED.split()),
    "memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n",
    "memory.pressure": PRESSURE,
    "io.stat": "",
    "io.pressure": PRESSURE,
    "pids.max": "max\n",
}
"""Without limits, and without work, as /proc shows none (csrc/shim/sys/procfs/counters.c)."""


def write_cgroup(directory: Path, hardware: Hardware | None) -> Bind:
    """Write the cgroup of all hosts of one shape below `directory`; the bind that shows it."""
    folder = directory / f"cgroup-{hardware.shape if hardware else 'any'}"
    files = dict(FILES)
    if hardware:
        cpus = cpu_list(range(hardware.cpus)) + "\n"
        files["cpuset.cpus.effective"] = cpus
        files["cpuset.mems.effective"] = cpu_list(range(hardware.nodes)) + "\n"
        files["memory.current"] = f"{hardware.memory_bytes // 2}\n"  # as much as /proc/meminfo says
    if not folder.exists():
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
    return Bind(folder, CGROUPS)
