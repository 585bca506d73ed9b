"""From the `storages:` and `mounts:` of a scenario to the disks of its hosts, and to the paths that are kept on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rsg_server.errors import SimunixError
from rsg_server.platform.disk import Disk
from rsg_server.platform.host import Host
from simunix.launch.plan import MountSpec, PrivateSpec
from simunix.ranges import fold_hosts
from simunix.roots.tree import RootTree
from simunix.scenario.storage_section import MountSection, StorageSection

MOUNTS_MAX = 16
"""Of one host: STORED_MOUNTS_MAX in csrc/shim/core/core.h."""
FOR_EVERYBODY = 0o1777
"""The mode of a mounted folder that the host's root does not have: users of a new file system find no folder of their own."""


def with_disks(hosts: Sequence[Host], storages: Sequence[StorageSection]) -> list[Host]:
    """The hosts with their disks. SimunixError names the storage that is wrong."""
    disks: dict[str, dict[str, Disk]] = {host.name: {} for host in hosts}
    for index, section in enumerate(storages):
        disk = Disk(
            section.name,
            section.read_bandwidth,
            section.write_bandwidth,
            section.readwrite_bandwidth,
            section.latency,
            section.capacity,
        )
        for name in section.host:
            if name not in disks:
                known = fold_hosts(list(disks))
                raise SimunixError(f"storages[{index}].host: {name!r} is not among the hosts; known: {known}")
            if disk.name in disks[name]:
                text = f"{name} has a storage {disk.name!r} already; choose another name"
                raise SimunixError(f"storages[{index}].name: {text}")
            disks[name][disk.name] = disk
    return [replace(host, disks=tuple(disks[host.name].values())) if disks[host.name] else host for host in hosts]


def together(of_file: Host, of_scenario: Host) -> tuple[Disk, ...]:
    """The disks of a host in a platform file, then those that the scenario adds. SimunixError names one that both have."""
    names = {disk.name for disk in of_file.disks}
    for disk in of_scenario.disks:
        if disk.name in names:
            text = f"host {of_file.name} of the platform file has a disk {disk.name!r} already; choose another name"
            raise SimunixError(f"storages: {text}")
    return (*of_file.disks, *of_scenario.disks)


@dataclass(frozen=True, slots=True)
class Mounts:
    """By host: the paths that are kept on storages, and the private paths that hold their content."""

    specs: Mapping[str, tuple[MountSpec, ...]]
    private: Mapping[str, tuple[PrivateSpec, ...]]


def plan_mounts(mounts: Sequence[MountSection], hosts: Mapping[str, Host], roots: Mapping[str, RootTree]) -> Mounts:
    """The mounts of all hosts. SimunixError names the mount that is wrong."""
    specs: dict[str, tuple[MountSpec, ...]] = {}
    private: dict[str, tuple[PrivateSpec, ...]] = {}
    for index, section in enumerate(mounts):
        for name in section.host:
            if name not in hosts:
                known = fold_hosts(list(hosts))
                raise SimunixError(f"mounts[{index}].host: {name!r} is not among the hosts; known: {known}")
            number = _number(section, hosts[name], f"mounts[{index}]")
            spec = MountSpec(section.path, number, hosts[name].disks[number].capacity_bytes is not None, section.cache)
            there = specs.get(name, ())
            if any(other.path == spec.path for other in there):
                raise SimunixError(f"mounts[{index}].path: {name} has a mount at {spec.path} already; choose another path")
            if len(there) == MOUNTS_MAX:
                raise SimunixError(f"mounts[{index}]: {name} has {MOUNTS_MAX} mounts already, as many as a host can have")
            mode = None if roots[name].has(spec.path) else FOR_EVERYBODY
            specs[name] = (*there, spec)
            private[name] = (*private.get(name, ()), PrivateSpec(spec.path, mode=mode, copied=section.content == "copy"))
    return Mounts(specs, private)


def _number(section: MountSection, host: Host, key: str) -> int:
    names = [disk.name for disk in host.disks]
    if section.storage not in names:
        known = f"it has {', '.join(names)}" if names else f"add one under storages, with host: {host.name}"
        raise SimunixError(f"{key}.storage: {host.name} has no storage {section.storage!r}; {known}")
    return names.index(section.storage)
