"""The files about the power of a host: empty files, for which the server supplies the content when a program reads.

Below /sys, the files appear among those of the kernel; in /dev/cpu, a file stands for the registers of each processor.
All hosts with processors and sockets of one kind share the files. rsg_server/power_files/ defines the contents.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rsg_server.power_files.files import CONSTRAINTS, COUNTERS, ENERGY_RANGE_UJ, FREQUENCIES
from rsg_server.power_files.switches import FILES
from simunix.launch.factory.container import PrivatePath
from simunix.launch.view.hardware import Hardware

MODE_OF_ROOT = 0o400
SECRET = ("cpuinfo_cur_freq", "energy_uj", "msr")
"""The files that only root may read. The energy is one of them, since it tells what other programs compute
(CVE-2020-8694).
"""


def _file(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(MODE_OF_ROOT if path.name in SECRET else 0o644)


def write_cpufreq(cpu: Path, cpus: int) -> None:
    """Add one frequency policy for all processors to the tree of /sys/devices/system/cpu: all cores of a host have one
    frequency.
    """
    policy = cpu / "cpufreq/policy0"
    if policy.exists():
        return
    for name in FREQUENCIES:
        _file(policy / name)
    every = " ".join(map(str, range(cpus))) + "\n"
    _file(policy / "affected_cpus", every)
    _file(policy / "related_cpus", every)
    for number in range(cpus):
        (cpu / f"cpu{number}/cpufreq").symlink_to("../cpufreq/policy0")


def write_sensors(folder: Path, hardware: Hardware) -> Path:
    """Write the files below /sys and /dev/cpu, once for all hosts with this hardware. Return `folder`, which has both
    as `sys` and `cpu`.
    """
    if folder.exists():
        return folder
    powercap = folder / "sys/devices/virtual/powercap/intel-rapl"
    shown = folder / "sys/class/powercap"
    shown.mkdir(parents=True)
    _file(powercap / "enabled", "1\n")
    (shown / "intel-rapl").symlink_to("../../devices/virtual/powercap/intel-rapl")
    for package in range(hardware.sockets):
        _write_package(powercap / f"intel-rapl:{package}", package)
        (shown / f"intel-rapl:{package}").symlink_to(f"../../devices/virtual/powercap/intel-rapl/intel-rapl:{package}")
    counters = folder / "sys/cray/pm_counters"
    for name in COUNTERS:
        _file(counters / name)
    for name, text in (("generation", "1"), ("raw_scan_hz", "10"), ("startup", "1"), ("version", "2")):
        _file(counters / name, text + "\n")
    for number in range(hardware.cpus):
        _file(folder / f"cpu/{number}/msr")
    return folder


def _write_package(zone: Path, package: int) -> None:
    _file(zone / "name", f"package-{package}\n")
    _file(zone / "max_energy_range_uj", f"{ENERGY_RANGE_UJ}\n")
    for name in ("energy_uj", "enabled"):
        _file(zone / name)
    for constraint in range(len(CONSTRAINTS)):
        for name in ("name", "power_limit_uw", "max_power_uw", "time_window_us"):
            _file(zone / f"constraint_{constraint}_{name}")


def write_wires(folder: Path, hosts: Sequence[str]) -> tuple[PrivatePath, ...]:
    """Return the private paths with the files of power switches and meters of other `hosts`, which are wired to this
    host.
    """
    for host in hosts:
        for name in FILES:
            _file(folder / host / name)
    return (PrivatePath("/run/simunix/power", folder),) if hosts else ()
