"""Files about the power of a host, as the shim finds them: empty ones, of which the server has the content.

Below /sys a host finds them among what the kernel shows there, in /dev/cpu the registers of each processor. All hosts with
processors and sockets of one shape share a tree. rsg_server/power_files/ says what is in the files.
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
"""What only root may read: of energies since they tell what other programs compute (CVE-2020-8694)."""


def _file(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(MODE_OF_ROOT if path.name in SECRET else 0o644)


def write_cpufreq(cpu: Path, cpus: int) -> None:
    """Add one policy for all processors to a tree of /sys/devices/system/cpu: a host has one frequency."""
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
    """Write what is shown below /sys and /dev/cpu, once for all hosts of this shape; `folder` has both as `sys` and `cpu`."""
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
    """Show a host the files of the power switches and meters of other hosts, if any are wired to it."""
    for host in hosts:
        for name in FILES:
            _file(folder / host / name)
    return (PrivatePath("/run/simunix/power", folder),) if hosts else ()
