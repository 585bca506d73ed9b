"""What a host shows of its processors and memory in /proc and /sys: a tree of files, bound over the real ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simunix.launch.factory.container import Bind

KIB = 1024


@dataclass(frozen=True, slots=True)
class Hardware:
    """Sockets × cores × threads, and memory. One NUMA node."""

    sockets: int
    cores_per_socket: int
    threads_per_core: int
    memory_bytes: int

    @property
    def cpus(self) -> int:
        """Logical processors."""
        return self.sockets * self.cores_per_socket * self.threads_per_core

    @property
    def shape(self) -> str:
        """Hosts of one shape show the same files."""
        return f"{self.sockets}x{self.cores_per_socket}x{self.threads_per_core}-{self.memory_bytes}"

    def place(self, cpu: int) -> tuple[int, int]:
        """(socket, core in the socket) of a logical processor: threads of a core are numbered apart, as on PCs."""
        cores = self.sockets * self.cores_per_socket
        core = cpu % cores
        return core // self.cores_per_socket, core % self.cores_per_socket


def _mask(cpus: list[int]) -> str:
    """A cpumap as sysfs prints it: 32-bit groups in hexadecimal, most significant first."""
    value = sum(1 << cpu for cpu in cpus)
    groups = max(1, (max(cpus) + 32) // 32)
    return ",".join(f"{value >> 32 * group & 0xFFFFFFFF:08x}" for group in reversed(range(groups)))


def _list(cpus: list[int]) -> str:
    """A cpulist as sysfs prints it: `0-3,8-11`."""
    runs: list[list[int]] = []
    for cpu in cpus:
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def _write_topology(base: Path, hardware: Hardware, cpu: int) -> None:
    socket, core = hardware.place(cpu)
    everyone = range(hardware.cpus)
    threads = [other for other in everyone if hardware.place(other) == (socket, core)]
    package = [other for other in everyone if hardware.place(other)[0] == socket]
    folder = base / f"cpu{cpu}" / "topology"
    _write(folder / "core_id", str(core))
    _write(folder / "physical_package_id", str(socket))
    _write(folder / "die_id", "0")
    for name, cpus in (
        ("thread_siblings", threads),
        ("core_cpus", threads),
        ("core_siblings", package),
        ("package_cpus", package),
        ("die_cpus", package),
    ):
        _write(folder / name, _mask(cpus))
        _write(folder / f"{name}_list", _list(cpus))
    _write(base / f"cpu{cpu}" / "online", "1")


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


def cpuset_files(memberships: str) -> list[str]:
    """Where processes that inherit our control groups, as /proc/self/cgroup lists them, read which processors they may use."""
    files = []
    for line in memberships.splitlines():
        _, controllers, group = line.split(":", 2)
        if "cpuset" in controllers.split(","):
            files.append(f"/sys/fs/cgroup/cpuset/{group.strip('/')}/cpuset.cpus".replace("//", "/"))
        elif controllers == "":
            files.append(f"/sys/fs/cgroup/{group.strip('/')}/cpuset.cpus.effective".replace("//", "/"))
    return files


def write_tree(directory: Path, hardware: Hardware) -> tuple[Bind, ...]:
    """Write the files of one shape below `directory` (once for all hosts of that shape); the binds that show them."""
    every = list(range(hardware.cpus))
    cpu, node = directory / "cpu", directory / "node"
    if not directory.exists():
        for name in ("online", "possible", "present"):
            _write(cpu / name, _list(every))
        _write(cpu / "kernel_max", "8191")
        for number in every:
            _write_topology(cpu, hardware, number)
        for name in ("online", "possible", "has_cpu", "has_memory", "has_normal_memory"):
            _write(node / name, "0")
        _write(node / "node0" / "cpulist", _list(every))
        _write(node / "node0" / "cpumap", _mask(every))
        _write(node / "node0" / "distance", "10")
        _write(node / "node0" / "meminfo", _meminfo(hardware, "Node 0 "))
        _write(directory / "cpuinfo", _cpuinfo(hardware))
        _write(directory / "meminfo", _meminfo(hardware))
        _write(directory / "cpuset", _list(every))
    return (
        Bind(directory / "cpuinfo", "/proc/cpuinfo"),
        Bind(directory / "meminfo", "/proc/meminfo"),
        Bind(cpu, "/sys/devices/system/cpu"),
        Bind(node, "/sys/devices/system/node"),
        Bind(cpu, "/sys/bus/cpu/devices"),  # where older versions of hwloc look
        Bind(node, "/sys/bus/node/devices"),
        *(Bind(directory / "cpuset", file) for file in cpuset_files(Path("/proc/self/cgroup").read_text())),
    )
